/* SPDX-License-Identifier: MIT */
/*
 * Stretches of addresses, and the holes that one list of them leaves in another. It must not know
 * what lies there.
 *
 *     held   [=============][=======]      [====]      sorted, perhaps joined
 *     live     [==]  [====]    [==]
 *     holes  --    --      -    ----               stranded: in a stretch that holds something
 *                            --            ----    free: in one that holds nothing
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STRETCHES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct stretch {
    uint64_t start, end;
    bool joins; /* a hole may go on into a stretch that begins where this one ends */
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

/* An end beyond the last address is the last address. */
int stretches_add(struct stretches *list, uint64_t start, uint64_t size_bytes, bool joins,
                  struct err *err);

/* By start; equal ones keep their order. Takes time in proportion to the count. */
int stretches_sort(struct stretches *list, struct err *err);

/* Makes one stretch of neighbours that a hole may cross, in a sorted list. */
void stretches_join(struct stretches *list);

void stretches_release(struct stretches *list);

struct holes {
    uint64_t total_bytes, largest_bytes;
    uint64_t stranded_bytes; /* in stretches that hold something */
};

/* What no live stretch covers of those held. Both lists are sorted. */
struct holes holes_between(const struct stretches *held, const struct stretches *live);

#endif
