/* SPDX-License-Identifier: MIT */
/*
 * The settings that PyTorch's allocator takes, from an environment variable or a call: the text that
 * its parser is given. It must not know what the settings mean.
 */
#include <string.h>

#include "interpose/life/frameworks.h"
#include "torch.h"

/* std::string of libstdc++, by its first two members. */
struct string {
    const char *text;
    size_t text_bytes;
};

static void note_string(const struct string *string)
{
    frameworks_note_settings(string->text, string->text_bytes);
}

static void note_text(const char *text)
{
    if (text)
        frameworks_note_settings(text, strlen(text));
}

/* A text that is refused throws, and is then not noted. */
#define TAKEN(name, library, parameters, arguments, note)                                          \
    TORCH_FUNCTION(void, name, parameters, library, return, {                                      \
        real arguments;                                                                            \
        note;                                                                                      \
    })

/* CUDAAllocatorConfig::parseArgs(const char *), and setAllocatorSettings(const std::string &), which
 * some releases call with what they then parse otherwise */
TAKEN(_ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc, "libc10_cuda.so",
      (void *config, const char *text), (config, text), note_text(text))
TAKEN(
    _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE,
    "libc10_cuda.so", (const struct string *text), (text), note_string(text))
/* AcceleratorAllocatorConfig::parseArgs(const std::string &), which has all settings since 2.9 */
TAKEN(
    _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE,
    "libc10.so", (void *config, const struct string *text), (config, text), note_string(text))
