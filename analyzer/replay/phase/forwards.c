/* SPDX-License-Identifier: MIT */
/* Forwards that follow each other; see forwards.h. */
#include "forwards.h"

/* Key spaces of the map `calls`: a caller that began a forward, and the number of the last forward
 * in which a caller ran. */
enum { CALL_BEGAN, CALL_RAN };

void forwards_release(struct forwards *forwards)
{
    pair_map_release(&forwards->calls);
}

static bool is_next_forward(const struct forwards *forwards, uint32_t call)
{
    return call && forwards->has_own && !forwards->is_recorded &&
           (pair_map_get(&forwards->calls, CALL_BEGAN, call) != PAIR_MAP_NONE ||
            pair_map_get(&forwards->calls, CALL_RAN, call) == forwards->number);
}

static int note_call(struct forwards *forwards, uint32_t call, struct err *err)
{
    const bool is_first = !forwards->recent_call;
    forwards->has_own = false;
    if (call == forwards->recent_call)
        return 0;
    forwards->recent_call = call;
    if (is_first && pair_map_put(&forwards->calls, CALL_BEGAN, call, 1, err))
        return -1;
    return pair_map_put(&forwards->calls, CALL_RAN, call, forwards->number, err);
}

int forwards_follow(struct forwards *forwards, const struct inferred *inferred, uint32_t stack_id,
                    bool is_recorded, bool *begins, struct err *err)
{
    const uint32_t call = inferred_call_of(inferred, stack_id);
    *begins |= is_next_forward(forwards, call);
    if (*begins) {
        forwards->number++;
        forwards->recent_call = 0;
        forwards->is_recorded = forwards->has_own = false;
    }
    forwards->is_recorded |= is_recorded;
    if (call)
        return note_call(forwards, call, err);
    forwards->has_own |= inferred_is_own(inferred, stack_id);
    return 0;
}
