/* SPDX-License-Identifier: MIT */
/*
 * The functions and files that only one of two runs has. Code that moved into a new function, or
 * out of an old one, is compared as if the function were not there: its lines count as lines of its
 * caller. A file that only one run has is taken for any other such file.
 *
 *     before   main:58 ─ forward                     main:60 ─ backward
 *     after    main:63 ─ step:50 ─ forward           main:63 ─ step:52 ─ backward
 */
#pragma once

#include "holding.h"

struct functions {
    /* Which runs have a name, by call_line.key and call_line.file. Bit 0 is the first run, bit 1
     * the second. */
    uint8_t *runs;
};

/* Both holdings share one set of names. On -1 nothing is to be released. */
int functions_of(struct functions *functions, const struct holding *const runs[2], struct err *err);
void functions_release(struct functions *functions);

static inline bool functions_is_of_both(const struct functions *functions, uint32_t name)
{
    return functions->runs[name] == 3;
}
