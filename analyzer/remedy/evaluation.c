/* SPDX-License-Identifier: MIT */
/* A line that evaluates; see evaluation.h. */
#include "evaluation.h"

/* Two views of one batch are training. */
enum { FEWEST_CALLS = 3 };

static bool is_open_round(const struct lives *lives)
{
    return lives->rounds.number && lives->bytes_by_part[PART_BACKWARD] &&
           (lives->rounds.part == PART_FORWARD || lives->rounds.part == PART_DATA);
}

bool evaluation_is(const struct lives *lives, const struct places *places, uint32_t location,
                   uint32_t callee, uint64_t calls)
{
    bool was_trained = false;

    if (calls < FEWEST_CALLS || !callee || !is_open_round(lives))
        return false;
    for (uint32_t place = 0; place < lives->count; place++) {
        const struct place_life *life = &lives->items[place];
        if (!life->births_count || life->first_round == lives->rounds.number)
            continue;
        if (place_is_under(places, place, location))
            return false;
        was_trained = was_trained || place_is_under(places, place, callee);
    }
    return was_trained;
}
