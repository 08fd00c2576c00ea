/* SPDX-License-Identifier: MIT */
/* Finds calls that ran out of memory and whose exception was caught; see caught.h. */
#include "caught.h"

#include "analyzer/thresholds/thresholds.h"

/* Returns the outermost frame of `failed` that is not in `after`, or PLACE_ROOT if there is
 * none. */
static uint32_t call_between(const struct places *places, uint32_t failed, uint32_t after)
{
    uint32_t call = PLACE_ROOT;
    while (failed != after)
        if (failed > after) {
            call = failed;
            failed = places->tree.nodes[failed].outer;
        } else {
            after = places->tree.nodes[after].outer;
        }
    return call;
}

/* Returns the place of the failed request. Uses the forward's stack for backward's own thread,
 * which has no Python frames. Returns PLACE_NONE if there is no memory. */
static uint32_t failed_place(const struct failure *failure, struct places *places, struct err *err)
{
    const uint32_t own = places_of(places, failure->event.stack_id, err);
    if (own == PLACE_NONE || places->items[own].location != PLACE_NATIVE)
        return own;
    return places_of(places, site_forward_stack(failure->site_id), err);
}

/* Returns the place of the call that failed. Returns PLACE_ROOT if there are no Python frames, and
 * PLACE_NONE if there is no memory. */
static uint32_t call_of(const struct failure *failure, struct places *places, struct err *err)
{
    const uint32_t failed = failed_place(failure, places, err);
    const uint32_t after = places_of(places, failure->went_on_stack_id, err);
    if (failed == PLACE_NONE || after == PLACE_NONE)
        return PLACE_NONE;
    if (places->items[failed].location == PLACE_NATIVE ||
        places->items[after].location == PLACE_NATIVE)
        return PLACE_ROOT;
    return call_between(places, failed, after);
}

static bool is_half(uint64_t size_bytes, uint64_t whole_bytes)
{
    const uint64_t half_bytes = whole_bytes / 2;
    const uint64_t differ_bytes =
        size_bytes > half_bytes ? size_bytes - half_bytes : half_bytes - size_bytes;
    return differ_bytes <= half_bytes / HALF_SIZE_DIVISOR;
}

/* Counts the last tries that asked for half and half again. */
static int count_halved(struct caught *caught, struct places *places, const struct failure *last,
                        struct err *err)
{
    const uint32_t place = failed_place(last, places, err);
    uint64_t size_bytes = last->event.size_bytes;
    caught->halved_count = 0;
    if (place == PLACE_NONE)
        return -1;
    if (!place_is_under(places, place, caught->location))
        return 0;
    for (size_t i = caught->count; i-- > 0 && is_half(size_bytes, caught->calls[i].size_bytes);) {
        size_bytes = caught->calls[i].size_bytes;
        caught->halved_count = caught->count - i + 1;
    }
    return 0;
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
        const uint32_t location = places->items[call].location;
        if (location != caught->location)
            caught->count = 0;
        caught->location = location;
        caught->calls[caught->count++] =
            (struct caught_call){call, failure->at.index, failure->event.size_bytes};
    }
    return caught->count ? count_halved(caught, places, last, err) : 0;
}
