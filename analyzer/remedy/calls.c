/* SPDX-License-Identifier: MIT */
/* Sums the bytes that a line's calls of a layer hold; see calls.h. */
#include "calls.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "places.h"

void calls_init(struct calls *calls)
{
    calls->last = SLOT_NONE;
    calls->last_place = PLACE_NONE;
}

void calls_release(struct calls *calls)
{
    free(calls->items);
    slots_release(&calls->slots);
}

static uint32_t begin_call(struct calls *calls, struct err *err)
{
    const uint32_t number = slots_take(&calls->slots, err);
    if (number == SLOT_NONE)
        return SLOT_NONE;
    if (ARRAY_GROW(calls->items, calls->capacity, number, err))
        return SLOT_NONE;
    calls->items[number] = (struct call){.previous = calls->last, .next = SLOT_NONE};
    if (calls->last != SLOT_NONE)
        calls->items[calls->last].next = number;
    calls->last = number;
    calls->is_open = true;
    return number;
}

static void end_call(struct calls *calls, uint32_t number)
{
    const struct call *call = &calls->items[number];
    if (call->previous != SLOT_NONE)
        calls->items[call->previous].next = call->next;
    if (call->next != SLOT_NONE) {
        calls->items[call->next].previous = call->previous;
    } else {
        calls->last = call->previous;
        calls->is_open = false;
    }
    slots_give_back(&calls->slots, number);
}

uint32_t calls_begin_block(struct calls *calls, uint32_t place, uint32_t block, uint64_t size_bytes,
                           struct err *err)
{
    const bool begins = place == calls->first_place && calls->last_place != place;
    const uint32_t number = begins || !calls->is_open ? begin_call(calls, err) : calls->last;
    if (number == SLOT_NONE)
        return SLOT_NONE;
    struct call *call = &calls->items[number];
    calls->last_place = place;
    calls->live_bytes += size_bytes;
    call->live_bytes += size_bytes;
    if (call->live_bytes > calls->most_bytes)
        calls->most_bytes = call->live_bytes;
    if (place == calls->output_place && size_bytes > call->output_bytes) {
        calls->output_bytes += size_bytes - call->output_bytes;
        call->output_bytes = size_bytes;
        call->output_block = block;
    }
    return number;
}

void calls_end_block(struct calls *calls, uint32_t number, uint32_t block, uint64_t size_bytes)
{
    struct call *call = &calls->items[number];
    calls->live_bytes -= size_bytes;
    call->live_bytes -= size_bytes;
    if (call->output_bytes && call->output_block == block) {
        calls->output_bytes -= call->output_bytes;
        call->output_bytes = 0;
    }
    if (!call->live_bytes)
        end_call(calls, number);
}

void calls_close(struct calls *calls)
{
    calls->is_open = false;
    calls->last_place = PLACE_NONE;
}

uint64_t calls_gone_bytes(const struct calls *calls)
{
    const struct call *last = calls->last == SLOT_NONE ? NULL : &calls->items[calls->last];
    if (calls->drops_outputs) {
        const struct call *before =
            last && last->previous != SLOT_NONE ? &calls->items[last->previous] : NULL;
        return calls->live_bytes - (last ? last->live_bytes : 0) -
               (before ? before->output_bytes : 0);
    }
    const uint64_t gone_bytes = calls->live_bytes - calls->output_bytes;
    return last ? gone_bytes - (last->live_bytes - last->output_bytes) : gone_bytes;
}
