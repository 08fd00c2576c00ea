/* SPDX-License-Identifier: MIT */
/*
 * Address ranges ("stretches"), and the holes that a list of live ones leaves in a list
 * of held ones.
 *
 *     held   [=============][=======]      [====]      sorted, perhaps joined
 *     live     [==]  [====]    [==]
 *     holes  --    --      -    ----               stranded: in a stretch that holds something
 *                            --            ----    free: in one that holds nothing
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_STRETCHES_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_FRAGMENTATION_STRETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct stretch {
    uint64_t start, end;
    bool joins; /* a hole may continue into the stretch that begins where this one ends */
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

/* An end beyond the last address is clipped to it. */
int stretches_add(struct stretches *list, uint64_t start, uint64_t size_bytes, bool joins,
                  struct err *err);

/* Sorts by start, stable, in linear time. */
int stretches_sort(struct stretches *list, struct err *err);

/* Joins adjacent stretches whose holes may continue, in a sorted list. */
void stretches_join(struct stretches *list);

void stretches_release(struct stretches *list);

struct holes {
    uint64_t total_bytes, largest_bytes;
    uint64_t stranded_bytes; /* in stretches that hold live memory */
};

/* The parts of `held` that no stretch of `live` covers. Both lists must be sorted. */
struct holes holes_between(const struct stretches *held, const struct stretches *live);

#endif
