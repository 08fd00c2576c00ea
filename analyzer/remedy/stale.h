/* SPDX-License-Identifier: MIT */
/*
 * Gradients of the round before that are still there when the next one begins, and what would be
 * gone if they were dropped then (zero_grad(set_to_none=True)). Backward would make each anew: in
 * the trace that is a temporary of the same place and size, which is added to the old gradient and
 * freed; without the old one it stays. It must not know other rules.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_STALE_H
#define GPUMEMTRACE_ANALYZER_REMEDY_STALE_H

#include <stdbool.h>

#include "analyzer/util/address_map.h"

/* Gradients of one place and size. */
struct stale_kind {
    uint64_t live_count;  /* all */
    uint64_t stale_count; /* of rounds before */
    uint64_t made_count;  /* anew, in this round */
};

/* Zeroed is ready for use. */
struct stale {
    struct stale_kind *kinds;
    size_t count, capacity;
    struct address_map numbers; /* by place and size */
    uint64_t live_bytes, stale_bytes, made_bytes;
};

void stale_release(struct stale *stale);

/* A block was born in backward; *made: it takes the place of an old gradient. -1: out of memory. */
int stale_begin_block(struct stale *stale, uint32_t place, uint64_t size_bytes, bool *made,
                      struct err *err);
void stale_end_block(struct stale *stale, uint32_t place, uint64_t size_bytes, bool is_old,
                     bool made);
/* A round begins: what backward left is old now. */
void stale_begin_round(struct stale *stale);
int64_t stale_gone_bytes(const struct stale *stale);

#endif
