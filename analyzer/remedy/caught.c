/* SPDX-License-Identifier: MIT */
/* Finds calls that ran out of memory and whose exception was caught; see caught.h. */
#include "caught.h"

/* Returns the outermost frame of `failed` that is not in `after`, or PLACE_ROOT if there is
 * none. */
static uint32_t call_between(const struct places *places, uint32_t failed, uint32_t after)
{
    uint32_t call = PLACE_ROOT;

    while (failed != after)
        if (failed > after) {
            call = failed;
            failed = places->items[failed].parent;
        } else {
            after = places->items[after].parent;
        }
    return call;
}

/* Returns the place of the call that failed. Uses the forward's stack for backward's own thread,
 * which has no Python frames. Returns PLACE_ROOT if there are no Python frames, and PLACE_NONE if
 * there is no memory. */
static uint32_t call_of(const struct failure *failure, struct places *places, struct err *err)
{
    const uint32_t own = places_of(places, failure->event.stack_id, err);
    if (own == PLACE_NONE)
        return PLACE_NONE;
    const bool is_native = places->items[own].location == PLACE_NATIVE;
    const uint32_t failed = is_native ? places_of(places, failure->forward_stack_id, err) : own;
    const uint32_t after = places_of(places, failure->went_on_stack_id, err);
    if (failed == PLACE_NONE || after == PLACE_NONE)
        return PLACE_NONE;
    if (places->items[failed].location == PLACE_NATIVE ||
        places->items[after].location == PLACE_NATIVE)
        return PLACE_ROOT;
    return call_between(places, failed, after);
}

int caught_find(struct caught *caught, const struct history *history, struct places *places,
                const struct failure *last, struct err *err)
{
    caught->count = 0;
    for (size_t i = 0; i < history->failure_count && &history->failures[i] != last; i++) {
        const struct failure *failure = &history->failures[i];
        if (failure->account != last->account || failure->event.result != RESULT_OUT_OF_MEMORY ||
            !failure->went_on)
            continue;
        const uint32_t call = call_of(failure, places, err);
        if (call == PLACE_NONE)
            return -1;
        if (call == PLACE_ROOT || !places_line_is_of_program(places, places->items[call].location))
            continue;
        if (call != caught->place)
            caught->count = 0;
        caught->place = call;
        caught->ends[caught->count++] = failure->at.index;
    }
    return 0;
}
