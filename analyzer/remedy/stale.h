/* SPDX-License-Identifier: MIT */
/*
 * Follows gradients of the previous iteration that are still live when the next one begins.
 * Computes how many bytes would be gone if the program dropped them at that moment
 * (zero_grad(set_to_none=True)). If the old gradient is gone, the new one that backward makes
 * stays. If the old gradient is still live, the trace shows the new one as a temporary of the same
 * place and size: it is added to the old gradient and freed.
 */
#pragma once

#include <stdbool.h>

#include "analyzer/util/pair_map.h"

/* Gradients of one place and size. A kind exists only while one of its gradients is live, because
 * there may be as many sizes as allocations. */
struct stale_kind {
    uint64_t size_bytes;
    uint32_t place;
    uint32_t next_free;   /* the next unused kind + 1; 0: this is the last one */
    uint64_t live_count;  /* gradients of all iterations */
    uint64_t stale_count; /* gradients of earlier iterations */
    uint64_t made_count;  /* gradients made in this iteration although an old one is live */
    uint64_t iteration;   /* the iteration that these counts belong to */
};

/* A zeroed struct is ready for use. */
struct stale {
    struct stale_kind *kinds;
    size_t count, capacity;
    uint32_t first_free;     /* first unused kind + 1; 0: none */
    struct pair_map numbers; /* by place and size */
    uint64_t iteration;
    uint64_t live_bytes, stale_bytes, made_bytes;
    uint64_t dropped_bytes; /* gradients freed in this iteration outside of backward */
    bool are_dropped;       /* some iteration freed at least as many bytes as it left over */
};

void stale_release(struct stale *stale);

/* The state that the caller keeps for each live block that was born in backward. */
struct stale_block {
    uint32_t kind;
    bool made; /* the block repeats an old gradient */
};

/* Adds a block that was born in backward. Returns -1 if there is no memory. */
int stale_begin_block(struct stale *stale, uint32_t place, uint64_t size_bytes,
                      struct stale_block *block, struct err *err);
void stale_end_block(struct stale *stale, const struct stale_block *block, uint64_t size_bytes,
                     bool is_old, bool in_backward);
/* Begins an iteration: all live gradients of backward become stale. */
void stale_begin_iteration(struct stale *stale);
int64_t stale_gone_bytes(const struct stale *stale);
