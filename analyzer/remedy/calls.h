/* SPDX-License-Identifier: MIT */
/*
 * Follows the calls that one line makes again and again in forward, for example `x = layer(x)` in a
 * loop, and the bytes that each call still holds. Computes how many bytes would be gone if each
 * call kept only its output and was computed again in backward, as torch.utils.checkpoint does.
 *
 *     forward   call 1        call 2        call 3             a call begins where its first place
 *               a b b c       a b b c       a b b ...          (a) allocates again
 *     kept            c             c       a b b              all of the last one: it still runs,
 *     backward  c             a b b c                          or is the first to be computed again
 */
#pragma once

#include <stdbool.h>

#include "analyzer/util/slots.h"
#include "iterations.h"

/* A call that still holds something. */
struct call {
    uint32_t previous, next; /* the neighbours in order of time; SLOT_NONE: none */
    uint64_t live_bytes, output_bytes;
    uint32_t output_block; /* the block that has output_bytes */
};

struct calls {
    /* The caller sets these fields. */
    uint32_t location; /* the line */
    /* places of the first allocation of a call and of its output */
    uint32_t first_place, output_place;
    /* each return of the first place begins a call, not another layer of the same call */
    bool tells_calls;
    /* no backward follows: a call needs only the output of the call before it */
    bool drops_outputs;

    struct call *items;
    size_t capacity;
    struct slots slots;
    uint32_t last; /* the last call; SLOT_NONE: no call holds anything */
    uint32_t last_place;
    bool is_open; /* the last call still runs */
    uint64_t live_bytes, output_bytes;
    uint64_t most_bytes; /* the most that one call held at once */
};

void calls_init(struct calls *calls);
void calls_release(struct calls *calls);

/* Adds a block that was born in forward under the line. Returns the call that holds the block, or
 * SLOT_NONE if there is no memory. */
uint32_t calls_begin_block(struct calls *calls, uint32_t place, uint32_t block, uint64_t size_bytes,
                           struct err *err);
void calls_end_block(struct calls *calls, uint32_t call, uint32_t block, uint64_t size_bytes);
/* Closes the last call, because something was allocated outside of the line. */
void calls_close(struct calls *calls);

/* Returns the bytes that would be gone now. */
uint64_t calls_gone_bytes(const struct calls *calls);
