/* SPDX-License-Identifier: MIT */
/* Calls of backward; see backwards.h. */
#include "backwards.h"

#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

static bool makes_first_gradients(const struct trace *trace, uint32_t stack_id)
{
    const uint32_t frame_id = trace_python_frame(trace, stack_id);
    const uint64_t location_id = frame_id ? trace->frames[frame_id].address : 0;
    return location_id && location_id < trace->location_limit &&
           torch_is(trace->locations[location_id].means, TORCH_first_gradients);
}

static int begin_call(const struct cursor *at)
{
    struct backwards *backwards = &at->history->backwards;
    if (!backwards->calls)
        backwards->calls = array_new(BACKWARDS_KEPT, sizeof *backwards->calls, at->err);
    if (!backwards->calls)
        return -1;
    backwards->open = ++backwards->count;
    backwards->thread_id = at->event->thread_id;
    backwards->calls[backwards->open % BACKWARDS_KEPT] =
        (struct backward_call){.begin_index = at->index, .stack_id = at->event->stack_id};
    return 0;
}

int backwards_note(const struct cursor *at, const struct inferred *inferred)
{
    struct backwards *backwards = &at->history->backwards;
    const uint32_t stack_id = at->event->stack_id;
    if (inferred_is_in_backward(inferred, stack_id))
        return makes_first_gradients(at->history->trace, stack_id) ? begin_call(at) : 0;
    if (backwards->open && backwards->thread_id == at->event->thread_id)
        backwards->open = 0;
    return 0;
}

uint32_t backwards_after(const struct backwards *backwards, uint64_t index)
{
    uint32_t low = backwards->count < BACKWARDS_KEPT ? 1 : backwards->count - BACKWARDS_KEPT + 1;
    uint32_t high = backwards->count + 1; /* the first call that is not before index */

    if (low > 1 && backwards->calls[low % BACKWARDS_KEPT].begin_index > index)
        return 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (backwards->calls[middle % BACKWARDS_KEPT].begin_index > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low > backwards->count ? 0 : low;
}
