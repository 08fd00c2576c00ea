/* SPDX-License-Identifier: MIT */
/*
 * Blocks while replaying: what is live, and everything that has to hear of a birth or an end. It
 * must not know what an event means.
 *
 *     begin, end, resize ──► accounts, mempools   sums
 *                        ──► past               what a moment may still ask for
 *                        ──► observers          analyses that cannot wait
 *                        ──► listener           what was bound into the block
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_BLOCKS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_BLOCKS_H

#include "analyzer/util/pair_map.h"
#include "autograd.h"
#include "bound_lists.h"
#include "driver_ranges.h"
#include "mempools.h"
#include "memory_rules.h"
#include "analyzer/replay/phase/spans.h"
#include "accounts.h"

/* What only the replay needs of a block. */
struct block_state {
    uint32_t span;           /* of its birth; held until the block ends */
    uint32_t reopened_count; /* opens of an import beyond the first */
    bool is_of_backward;     /* a thread of PyTorch's autograd allocated it */
};

/* Told of every block that ended, after it was counted. */
struct block_listener {
    int (*on_end)(void *self, uint32_t block);
    void *self;
};

struct blocks {
    struct cursor at;
    struct pair_map live;       /* block by address, but those in SPACE_HANDLE */
    struct block_state *states; /* by block */
    size_t state_capacity;
    struct bound_lists bound;
    struct block_listener listener;
    struct accounts accounts;
    struct mempools mempools;
    struct spans spans;
    struct driver_ranges ranges;
    struct pair_map backward_threads; /* of PyTorch's autograd, by id */
    struct autograd autograd;
};

/* Everything but the cursor and the listener, which the caller sets. */
int blocks_init(struct blocks *blocks, const struct trace *trace, struct err *err);
/* The trace has more threads and stacks than before. */
int blocks_learn(struct blocks *blocks, const struct trace *trace, struct err *err);
void blocks_release(struct blocks *blocks);

/* A block as the current event describes it. account HISTORY_NONE: out of memory. */
struct block blocks_described(struct blocks *blocks);
/* Whether a thread of PyTorch's autograd made the event. */
bool blocks_is_of_backward(const struct blocks *blocks);
/*
 * A new block, allocated by the current event. The caller gives address, size_bytes, stack_id,
 * account, mempool and memory. Returns its number, or HISTORY_NONE: out of memory.
 */
uint32_t blocks_begin(struct blocks *blocks, const struct block *born);
/* As blocks_begin. From now on the block is found by its address. */
uint32_t blocks_begin_at(struct blocks *blocks, uint32_t space, const struct block *born);
int blocks_end(struct blocks *blocks, uint32_t number, enum block_end end);
/* Ends a block that is found by its address. */
int blocks_end_found(struct blocks *blocks, uint32_t number, enum block_end end);
/* Ends the block that is live at the address, if there is one. */
int blocks_end_at(struct blocks *blocks, uint32_t space, uint64_t address, enum block_end end);
/* Ends the block and begins one of another size in its place, with the same number. */
int blocks_resize(struct blocks *blocks, uint32_t number, uint64_t size_bytes, uint32_t stack_id);

/* The current event failed to allocate memory of the account. account HISTORY_NONE: out of memory. */
int blocks_fail(struct blocks *blocks, uint32_t account);

#endif
