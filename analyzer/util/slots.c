/* SPDX-License-Identifier: MIT */
/* Reusable numbers; see slots.h. */
#include "slots.h"

#include <stdlib.h>

#include "array.h"

void slots_release(struct slots *slots)
{
    free(slots->given_back);
    *slots = (struct slots){0};
}

uint32_t slots_take(struct slots *slots, struct err *err)
{
    if (slots->given_back_count)
        return slots->given_back[--slots->given_back_count];
    if (slots->used == SLOT_NONE) {
        err_set(err, ERR_INPUT, "more than %u of a kind exist at once", SLOT_NONE - 1);
        return SLOT_NONE;
    }
    /* Reserves room for every number, so that slots_give_back cannot fail. */
    if (ARRAY_GROW(slots->given_back, slots->capacity, slots->used, err))
        return SLOT_NONE;
    return slots->used++;
}

void slots_give_back(struct slots *slots, uint32_t number)
{
    slots->given_back[slots->given_back_count++] = number;
}
