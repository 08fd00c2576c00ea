/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are given out, given back and reused. An array indexed by them grows with the number
 * of objects that exist at once, not with the number that ever existed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define SLOT_NONE UINT32_MAX

/* A zeroed struct is empty and ready for use. */
struct slots {
    uint32_t *given_back;
    size_t given_back_count, capacity;
    uint32_t used; /* all numbers given out so far are smaller */
};

void slots_release(struct slots *slots);

/* Returns the number that was given back last, or a new number if none is free. SLOT_NONE: out of
 * memory. */
uint32_t slots_take(struct slots *slots, struct err *err);
void slots_give_back(struct slots *slots, uint32_t number);
