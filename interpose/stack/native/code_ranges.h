/* SPDX-License-Identifier: MIT */
/*
 * The machine code of one function: its main part and its cold part. The compiler moves the cold
 * part away because it seldom runs; that part has no name in a stripped file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info;

#define CODE_RANGES_MAX 4

struct code_ranges {
    unsigned count;
    struct {
        uintptr_t start, bytes;
    } ranges[CODE_RANGES_MAX];
};

/* Adds the function if this object exports it; if not, returns false. It only reads memory. */
bool code_ranges_add(struct code_ranges *ranges, const struct dl_phdr_info *info, const char *name);

/* Does the call that returns to this address lie in one of the ranges? */
static inline bool code_ranges_have(const struct code_ranges *ranges, uintptr_t return_address)
{
    for (unsigned i = 0; i < ranges->count; i++)
        if (return_address - 1 - ranges->ranges[i].start < ranges->ranges[i].bytes)
            return true;
    return false;
}
