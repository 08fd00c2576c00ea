/* SPDX-License-Identifier: MIT */
/*
 * Live blocks of a replay. If a block begins, ends or is resized, everything that counts blocks is
 * told:
 *
 *     begin, end, resize ──► accounts, mempools   sums of bytes
 *                         ──► past               ended blocks that a kept moment still needs
 *                         ──► observers          analyses that need every change
 *                         ──► listener           unbinds memory that was bound into the block
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "autograd.h"
#include "bound_lists.h"
#include "driver_ranges.h"
#include "mempools.h"
#include "memory_rules.h"
#include "analyzer/replay/phase/spans.h"
#include "accounts.h"
#include "uses.h"

/* Data of a block that only the replay needs. */
struct block_state {
    uint32_t span, deciding; /* phases of the birth, which the block holds until it ends */
    uint32_t birth;          /* number of its birth; see uses.h */
    uint32_t reopened_count; /* number of opens of an import after the first */
    bool is_of_backward;     /* a thread of PyTorch's autograd allocated it */
};

/* on_end is called for each block that ended, after all sums have counted the end. */
struct block_listener {
    int (*on_end)(void *self, uint32_t block);
    void *self;
};

struct blocks {
    struct cursor at;
    struct pair_map live;       /* block by address, except in SPACE_HANDLE */
    struct block_state *states; /* by block */
    size_t state_capacity;
    struct bound_lists bound;
    struct block_listener listener;
    struct accounts accounts;
    struct mempools mempools;
    struct spans spans;
    struct driver_ranges ranges;
    struct pair_map backward_threads; /* threads of PyTorch's autograd, by id */
    struct autograd autograd;
    struct uses uses;
};

/* Initializes everything except the cursor and the listener, which the caller sets. */
int blocks_init(struct blocks *blocks, const struct trace *trace, struct err *err);
/* Call it when the tables of the trace have more threads and stacks than before. */
int blocks_learn(struct blocks *blocks, const struct trace *trace, struct err *err);
void blocks_release(struct blocks *blocks);

/* Returns a block as the current event describes it. If its account is HISTORY_NONE, memory ran
 * out. */
struct block blocks_described(struct blocks *blocks);
/* True if the current event comes from a thread of PyTorch's autograd. */
bool blocks_is_of_backward(const struct blocks *blocks);
/*
 * Begins a block that the current event allocated. The caller sets address, size_bytes, stack_id,
 * account, mempool and memory. Returns the block's number, or HISTORY_NONE: out of memory.
 */
uint32_t blocks_begin(struct blocks *blocks, const struct block *born);
/* Does what blocks_begin does, and adds the block to the map of live addresses. */
uint32_t blocks_begin_at(struct blocks *blocks, uint32_t space, const struct block *born);
int blocks_end(struct blocks *blocks, uint32_t number, enum block_end end);
/* Ends the block, and removes its address from the map. */
int blocks_end_found(struct blocks *blocks, uint32_t number, enum block_end end);
/* Ends the block that is live at the address, if there is one. */
int blocks_end_at(struct blocks *blocks, uint32_t space, uint64_t address, enum block_end end);
/* Ends the block and begins one of another size in its slot, with the same number. */
int blocks_resize(struct blocks *blocks, uint32_t number, uint64_t size_bytes, uint32_t stack_id);

/* Counts the current event as a failure of the account. Pass the result of accounts_find: if it is
 * HISTORY_NONE, memory ran out, and this fails. */
int blocks_fail(struct blocks *blocks, uint32_t account);
