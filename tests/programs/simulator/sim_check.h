/* SPDX-License-Identifier: MIT */
/*
 * Has what the test programs of the simulator share: checks that print the first failure and exit,
 * and parts.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "sim_parts.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define GRANULE (2 * MIB)
#define CONTEXT_COST (300 * MIB)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The two values are compared as 64-bit numbers. */
#define EXPECT(expression, expected)                                                               \
    sim_expect(__FILE__, __LINE__, #expression, (unsigned long long)(expression),                  \
               (unsigned long long)(expected))

static inline void sim_expect(const char *file, int line, const char *text, unsigned long long is,
                              unsigned long long expected)
{
    if (is == expected)
        return;
    printf("%s:%d: %s is %llu, not %llu\n", file, line, text, is, expected);
    exit(1);
}
