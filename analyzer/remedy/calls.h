/* SPDX-License-Identifier: MIT */
/*
 * The calls that one line makes again and again in forward, as `x = layer(x)` in a loop, and what
 * each of them still holds. It computes what would be gone if each call kept its output alone and
 * was computed again in backward, as torch.utils.checkpoint does. It must not know other rules.
 *
 *     forward   call 1        call 2        call 3             a call begins where its first place
 *               a b b c       a b b c       a b b ...          (a) allocates again
 *     kept            c             c       a b b              of the last that is left: all, as it
 *     backward  c             a b b c                          runs, or is computed again, at once
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_CALLS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_CALLS_H

#include <stdbool.h>

#include "analyzer/util/slots.h"
#include "iterations.h"

/* One call that still holds something. */
struct call {
    uint32_t previous, next; /* in order of time; SLOT_NONE: none */
    uint64_t live_bytes, output_bytes;
    uint32_t output_block; /* that output_bytes are of */
};

struct calls {
    /* The caller's to set. */
    uint32_t location;                  /* the line */
    uint32_t first_place, output_place; /* where a call allocates first, and its output */
    bool
        tells_calls; /* what begins where the first place comes back is a call, and no layer in one */
    bool drops_outputs; /* nothing of a call is needed once the next has begun */

    struct call *items;
    size_t capacity;
    struct slots slots;
    uint32_t last; /* SLOT_NONE: none holds anything */
    uint32_t last_place;
    bool is_open; /* the last one still runs */
    uint64_t live_bytes, output_bytes;
    uint64_t most_bytes; /* that a call held at once */
};

void calls_init(struct calls *calls);
void calls_release(struct calls *calls);

/* A block was born in forward under the line: the call that holds it; SLOT_NONE: out of memory. */
uint32_t calls_begin_block(struct calls *calls, uint32_t place, uint32_t block, uint64_t size_bytes,
                           struct err *err);
void calls_end_block(struct calls *calls, uint32_t call, uint32_t block, uint64_t size_bytes);
/* Something else was allocated: the last call is over. */
void calls_close(struct calls *calls);

/* What would be gone now. */
uint64_t calls_gone_bytes(const struct calls *calls);

#endif
