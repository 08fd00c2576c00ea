/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym and dlopen as the program calls them. stubs.S asks here which function answers, and
 * jumps to it.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H
#define GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H

#include <stdint.h>

/* Where a stub jumps, and what it has for a second argument; the others stay as they came. Two
 * words, so that both ABIs give it back in registers. */
struct stub_choice {
    void *function;
    uintptr_t second;
};

/* The arguments of the call, a third one or not, and its return address. */
struct stub_choice dlsym_choose(void *handle, const char *name, const void *third,
                                const void *caller);
struct stub_choice dlvsym_choose(void *handle, const char *name, const void *third,
                                 const void *caller);
struct stub_choice dlopen_choose(const char *path, int flags);

#endif
