/* SPDX-License-Identifier: MIT */
/*
 * Gradients of the iteration before that are still there when the next one begins, and what would be
 * gone if they were dropped then (zero_grad(set_to_none=True)). Backward would make each anew: in
 * the trace that is a temporary of the same place and size, which is added to the old gradient and
 * freed; without the old one it stays. It must not know other rules.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_STALE_H
#define GPUMEMTRACE_ANALYZER_REMEDY_STALE_H

#include <stdbool.h>

#include "analyzer/util/pair_map.h"

/* Gradients of one place and size, while any is live: sizes may be as many as allocations. */
struct stale_kind {
    uint64_t size_bytes;
    uint32_t place;
    uint32_t next_free;   /* + 1, of the kinds that are free; 0: the last */
    uint64_t live_count;  /* all */
    uint64_t stale_count; /* of iterations before */
    uint64_t made_count;  /* anew, in this iteration */
    uint64_t iteration;   /* as of which these are */
};

/* Zeroed is ready for use. */
struct stale {
    struct stale_kind *kinds;
    size_t count, capacity;
    uint32_t first_free;     /* + 1; 0: none */
    struct pair_map numbers; /* by place and size */
    uint64_t iteration;
    uint64_t live_bytes, stale_bytes, made_bytes;
    uint64_t dropped_bytes; /* of this iteration, outside of backward */
    bool are_dropped;       /* by zero_grad: in some iteration, as much as the next one found */
};

void stale_release(struct stale *stale);

/* What is kept with each block that was born in backward. */
struct stale_block {
    uint32_t kind;
    bool made; /* it takes the place of an old gradient */
};

/* -1: out of memory. */
int stale_begin_block(struct stale *stale, uint32_t place, uint64_t size_bytes,
                      struct stale_block *block, struct err *err);
void stale_end_block(struct stale *stale, const struct stale_block *block, uint64_t size_bytes,
                     bool is_old, bool in_backward);
/* An iteration begins: what backward left is old now. */
void stale_begin_iteration(struct stale *stale);
int64_t stale_gone_bytes(const struct stale *stale);

#endif
