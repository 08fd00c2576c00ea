/* SPDX-License-Identifier: MIT */
/*
 * Notes the settings of PyTorch's allocator, which come from an environment variable or a call. The
 * settings are noted as the text that PyTorch's parser gets.
 */
#include <string.h>

#include "interpose/life/frameworks.h"
#include "torch.h"

static GMT_UNUSED void note_string(const struct torch_string *string)
{
    frameworks_note_settings(string->text, string->text_bytes);
}

static GMT_UNUSED void note_text(const char *text)
{
    if (text)
        frameworks_note_settings(text, strlen(text));
}

#if GMT_PASSES_CALLS_ON

/* Notes the text after the call. If the parser refuses a text, it throws an exception, and the text
 * is not noted. */
#define TAKEN(name, library, note)                                                                 \
    TORCH_FUNCTION(struct torch_words, name, (TORCH_WORDS), library,                               \
                   return ((struct torch_words){0, 0}), {                                          \
                       const struct torch_words result = real(a, b, c, d, e, f);                   \
                       note;                                                                       \
                       return result;                                                              \
                   })

/* CUDAAllocatorConfig::parseArgs(const char *), and setAllocatorSettings(const std::string &),
 * which some releases call with a text that a different parser reads afterwards */
TAKEN(_ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc, "libc10_cuda.so",
      note_text((const char *)b))
TAKEN(
    _ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE,
    "libc10_cuda.so", note_string((const struct torch_string *)a))
/* AcceleratorAllocatorConfig::parseArgs(const std::string &), which reads all settings since 2.9 */
TAKEN(
    _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE,
    "libc10.so", note_string((const struct torch_string *)b))

#endif
