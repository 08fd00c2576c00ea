/* SPDX-License-Identifier: MIT */
/*
 * Sums the blocks of one account by what keeps them alive: one item for each chain of names and its
 * kind, so that 200 items of one list are one item. The walk nearest to a moment tells the chains.
 * With by_stack, each call stack has items of its own.
 *
 *     struct held_sums sums;
 *     const struct held_ask ask = {.account = account, .index = failure->at.index};
 *     if (held_sums_find(&sums, &study->holders, &study->history, &ask, err)) …
 *     held_sums_release(&sums);
 */
#pragma once

#include "analyzer/replay/history/live_walk.h"
#include "holders.h"

struct held_sum {
    uint32_t stack_id;                 /* 0 unless by_stack */
    const struct trace_holder *holder; /* of the largest block; NULL: no object of Python's */
    uint64_t bytes, count;
    uint64_t items_count; /* of the fullest container; 0: none */
    uint64_t old_count;   /* blocks that the running step did not make */
    size_t chain_bytes;   /* length of the part of the chain that leads to all of it; 0: whole */
};

struct held_sums {
    struct held_sum *items; /* by call stack, and then by bytes, descending */
    size_t count;
    uint64_t bytes;               /* sum of all items */
    const struct walk_blocks *at; /* the walk; NULL: there was none, and no items */
};

struct held_ask {
    uint32_t account;
    uint64_t index;  /* the moment */
    bool is_failure; /* an allocation failed at the moment */
    /* Take the blocks that lived at the last walk, or, with `takes`, at the walk at which variables
     * held most of them, whether or not they lived at the moment. Else take those that lived at
     * both. */
    bool is_of_walk;
    bool by_stack;
    uint64_t born_before;              /* take only blocks that are older than this event; 0: all */
    const struct block_filter *filter; /* take only these, unless is_of_walk; NULL: all */
    /* By stack id: the number of blocks that a step makes at the call stack; 0: do not take it.
     * Leaves out what holds nothing but blocks that the running step may have made. NULL: all. */
    const uint64_t *takes;
};

int held_sums_find(struct held_sums *sums, const struct holders *holders,
                   const struct history *history, const struct held_ask *ask, struct err *err);
void held_sums_release(struct held_sums *sums);

/* True if a variable leads to the memory, or a reference cycle keeps it. holder may be NULL. */
bool held_is_named(const struct trace *trace, const struct trace_holder *holder);
/* A holder is worth naming if it keeps at least a quarter of what is live. */
enum { WORTH_NAMING_DIVISOR = 4 };
/* The largest item, if it keeps at least a quarter of the bytes, and the items of its kind more
 * than half; NULL: none does, or nothing of Python's does. */
const struct held_sum *held_sums_most(const struct held_sums *sums);
/* Finds the container whose items, and all that these lead to, keep most, if it is more than half:
 * of "runs[*]" and "runs[*].optimizer.state[*]", it is the first. Sets *outer to its sum. */
bool held_sums_outer(struct held_sum *outer, const struct trace *trace,
                     const struct held_sums *sums);
/*
 * Both return an empty sum if they find nothing that keeps a quarter.
 *
 * held_sums_attribute returns the largest of the attributes to which the items of the container
 * `outer` lead, with the bytes of all such attributes: the program may drop these and keep the
 * items. held_sums_second returns the holder that keeps most beside the first one: an attribute
 * beside another one, or a container with all that it leads to.
 */
struct held_sum held_sums_attribute(const struct trace *trace, const struct held_sums *sums,
                                    const struct held_sum *outer);
struct held_sum held_sums_second(const struct trace *trace, const struct held_sums *sums,
                                 const struct held_sum *first);
/* Returns the variable that keeps most, as far as one part of it keeps nearly all of it: of
 * "model.layers[*].up.weight" and "model.layers[*].down.weight", it is "model.layers[*]". Looks at
 * the variables of the largest items only. An empty sum if no item has a holder. */
struct held_sum held_sums_variable(const struct trace *trace, const struct held_sums *sums);
/* True if the variable, or the part of it that the sum names, leads to what `holder` keeps. */
bool held_sum_leads_to(const struct trace *trace, const struct held_sum *sum,
                       const struct trace_holder *holder);
/* The item that keeps more than half of the bytes of one call stack, in sums found by_stack. */
const struct held_sum *held_sums_of_stack(const struct held_sums *sums, uint32_t stack_id);
