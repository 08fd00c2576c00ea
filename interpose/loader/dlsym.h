/* SPDX-License-Identifier: MIT */
/*
 * The program's calls of dlsym, dlvsym and dlopen. stubs.S asks the functions below which function
 * answers a call, and jumps to that function.
 */
#pragma once

#include <stdint.h>

/* The function that a stub jumps to, and its second argument. The other arguments stay unchanged.
 * The struct has only two words, so that both ABIs return it in registers. */
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
