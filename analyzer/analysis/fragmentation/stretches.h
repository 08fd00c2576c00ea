/* SPDX-License-Identifier: MIT */
/*
 * Address ranges ("stretches"), and the holes that a list of live stretches leaves in a list of
 * held stretches.
 *
 *     held   [=============][=======]      [====]      sorted, perhaps joined
 *     live     [==]  [====]    [==]
 *     holes  --    --      -    ----               stranded: in a stretch that holds something
 *                            --            ----    free: in one that holds nothing
 */
#pragma once

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

/* Adds a stretch. If its end would lie beyond the last address, the stretch ends there. */
int stretches_add(struct stretches *list, uint64_t start, uint64_t size_bytes, bool joins,
                  struct err *err);

/* Sorts the stretches by start. The sort is stable and takes linear time. */
int stretches_sort(struct stretches *list, struct err *err);

/* Joins adjacent stretches if a hole may continue from one into the next. The list must be
 * sorted. */
void stretches_join(struct stretches *list);

void stretches_release(struct stretches *list);

struct holes {
    uint64_t total_bytes, largest_bytes;
    uint64_t stranded_bytes; /* in stretches that hold live memory */
};

/* The parts of `held` that no stretch of `live` covers. Both lists must be sorted. */
struct holes holes_between(const struct stretches *held, const struct stretches *live);
