/* SPDX-License-Identifier: MIT */
/*
 * dlsym, dlvsym and dlopen as the program calls them. stubs.S asks the functions below which
 * function answers the call, and jumps to it.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H
#define GPUMEMTRACE_INTERPOSE_LOADER_DLSYM_H

#include <stdint.h>

/* The function that a stub jumps to, and its second argument; the other arguments stay. Two words,
 * so that both ABIs return them in registers. */
struct stub_choice {
    void *function;
    uintptr_t second;
};

/* Parameters: the arguments of the call, up to three, and its return address. */
struct stub_choice dlsym_choose(void *handle, const char *name, const void *third,
                                const void *caller);
struct stub_choice dlvsym_choose(void *handle, const char *name, const void *third,
                                 const void *caller);
struct stub_choice dlopen_choose(const char *path, int flags);

#endif
