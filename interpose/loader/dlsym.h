/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym and dlopen as the program calls them: stubs.S asks here which function answers, and
 * jumps to it. It must not know what the functions do that are looked up.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H
#define GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H

#include <stdint.h>

/* Where a stub jumps, and its second argument; the others stay as they came. Two words, so that
 * both ABIs return it in registers. */
struct stub_choice {
    void *function;
    uintptr_t second;
};

/* The call's arguments, up to three, and its return address. */
struct stub_choice dlsym_choose(void *handle, const char *name, const void *third,
                                const void *caller);
struct stub_choice dlvsym_choose(void *handle, const char *name, const void *third,
                                 const void *caller);
struct stub_choice dlopen_choose(const char *path, int flags);

#endif
