/* SPDX-License-Identifier: MIT */
/*
 * Writing the tape.
 */
#include "tape.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static const char *const phase_names[] = {"init", "data", "forward", "backward", "optimizer"};

const char *tape_phase_name(enum tape_phase phase)
{
    return phase_names[phase];
}

void tape_release(struct tape *tape)
{
    free(tape->events);
    *tape = (struct tape){0};
}

void tape_at(struct tape *tape, enum tape_phase phase, int32_t layer)
{
    tape->phase = (uint8_t)phase;
    tape->layer = layer;
}

static void append(struct tape *tape, struct tape_event event)
{
    if (tape->err.code != ERR_NONE)
        return;
    if (tape->count == TAPE_EVENTS_MOST) {
        err_set(&tape->err, ERR_INPUT, "the model has too many tensors to estimate");
        return;
    }
    if (tape->count == tape->capacity) {
        struct tape_event *grown =
            array_grow(tape->events, &tape->capacity, tape->count, sizeof event, &tape->err);
        if (!grown)
            return;
        tape->events = grown;
    }
    event.phase = tape->phase;
    event.layer = tape->layer;
    tape->events[tape->count++] = event;
}

uint32_t tape_alloc(struct tape *tape, enum category category, uint64_t bytes)
{
    if (bytes == 0)
        return TAPE_NO_BLOCK;
    append(tape, (struct tape_event){
                     .bytes = bytes, .block = ++tape->blocks, .category = (uint8_t)category});
    return tape->blocks;
}

void tape_free(struct tape *tape, enum category category, uint32_t block, uint64_t bytes)
{
    if (block == TAPE_NO_BLOCK)
        return;
    append(tape,
           (struct tape_event){
               .bytes = bytes, .block = block, .category = (uint8_t)category, .is_free = true});
}
