/* SPDX-License-Identifier: MIT */
/* Forwards that follow each other; see forwards.h. */
#include "forwards.h"

/* Key spaces of the map `calls`: how many forwards a caller began, and the number of the last
 * forward in which a caller ran. */
enum { CALL_BEGAN, CALL_RAN };

void forwards_release(struct forwards *forwards)
{
    pair_map_release(&forwards->calls);
}

static uint32_t began_count(const struct forwards *forwards, uint32_t call)
{
    const uint32_t count = pair_map_get(&forwards->calls, CALL_BEGAN, call);
    return count == PAIR_MAP_NONE ? 0 : count;
}

static bool is_next_forward(const struct forwards *forwards, struct inferred_call call)
{
    if (!call.hash || !forwards->has_own || forwards->is_recorded)
        return false;
    const uint32_t ran = pair_map_get(&forwards->calls, CALL_RAN, call.hash);
    return began_count(forwards, call.hash) || ran == forwards->number ||
           (ran == PAIR_MAP_NONE && call.line == forwards->first.line &&
            began_count(forwards, forwards->first.hash) > 1);
}

static int note_call(struct forwards *forwards, struct inferred_call call, struct err *err)
{
    const bool is_first = !forwards->recent_call;
    forwards->has_own = false;
    if (call.hash == forwards->recent_call)
        return 0;
    forwards->recent_call = call.hash;
    if (is_first) {
        forwards->first = call;
        if (pair_map_put(&forwards->calls, CALL_BEGAN, call.hash,
                         began_count(forwards, call.hash) + 1, err))
            return -1;
    }
    return pair_map_put(&forwards->calls, CALL_RAN, call.hash, forwards->number, err);
}

int forwards_follow(struct forwards *forwards, const struct inferred *inferred, uint32_t stack_id,
                    bool is_recorded, bool *begins, struct err *err)
{
    const struct inferred_call call = inferred_call_of(inferred, stack_id);
    *begins |= is_next_forward(forwards, call);
    if (*begins) {
        forwards->number++;
        forwards->recent_call = 0;
        forwards->is_recorded = forwards->has_own = false;
    }
    forwards->is_recorded |= is_recorded;
    if (call.hash)
        return note_call(forwards, call, err);
    forwards->has_own |= inferred_is_own(inferred, stack_id);
    return 0;
}
