/* SPDX-License-Identifier: MIT */
/* Sums by holder; see held_sums.h. */
#include "held_sums.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

/* --- the blocks --- */

struct taken {
    struct held_sum *items; /* one for each block */
    size_t count, capacity;
};

static bool is_taken(const struct held_block *block, const struct held_ask *ask)
{
    return (!ask->takes || ask->takes[block->stack_id]) &&
           (!ask->born_before || block->begin_index < ask->born_before);
}

static int take_block(struct taken *taken, const struct held_block *block,
                      const struct held_ask *ask, struct err *err)
{
    if (!is_taken(block, ask))
        return 0;
    if (ARRAY_GROW(taken->items, taken->capacity, taken->count, err))
        return -1;
    taken->items[taken->count++] =
        (struct held_sum){.stack_id = ask->by_stack ? block->stack_id : 0,
                          .holder = block->holder,
                          .bytes = block->size_bytes,
                          .count = 1,
                          .items_count = block->holder ? block->holder->items_count : 0};
    return 0;
}

static int take_of_walk(struct taken *taken, const struct walk_blocks *walk,
                        const struct held_ask *ask, struct err *err)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->blocks[i].account == ask->account &&
            take_block(taken, &walk->blocks[i], ask, err))
            return -1;
    return 0;
}

static int take_of_both(struct taken *taken, const struct walk_blocks *walk,
                        const struct history *history, const struct held_ask *ask, struct err *err)
{
    struct live_walk live = live_walk_begin(history, ask->account, ask->index);
    const struct block *block;
    while ((block = live_walk_next(&live))) {
        const struct held_block *held = walk_blocks_find(walk, block);
        if (held && take_block(taken, held, ask, err))
            return -1;
    }
    return 0;
}

/* --- the sums --- */

/* Blocks that no object of Python's holds come last. */
static int compare_chains(const struct trace_holder *a, const struct trace_holder *b)
{
    if (!a || !b)
        return !a - !b;
    if (a->chain_id != b->chain_id)
        return a->chain_id < b->chain_id ? -1 : 1;
    return strcmp(a->kind, b->kind);
}

static int compare_holders(const struct held_sum *a, const struct held_sum *b)
{
    if (a->stack_id != b->stack_id)
        return a->stack_id < b->stack_id ? -1 : 1;
    return compare_chains(a->holder, b->holder);
}

/* Of equal chains, the largest block comes first. */
ORDER_BY(compare_blocks, struct held_sum, compare_holders(a, b), FALLING(bytes),
         a->holder ? RISING(holder) : 0);

ORDER_BY(compare_sums, struct held_sum, a->stack_id == b->stack_id ? FALLING(bytes) : 0,
         compare_holders(a, b));

static void join(struct held_sums *sums, struct taken *taken)
{
    size_t count = 0;
    SORT(taken->items, taken->count, compare_blocks);
    for (size_t i = 0; i < taken->count; i++) {
        const struct held_sum *block = &taken->items[i];
        struct held_sum *sum = count ? &taken->items[count - 1] : NULL;

        sums->bytes += block->bytes;
        if (!sum || compare_holders(sum, block)) {
            taken->items[count++] = *block;
            continue;
        }
        sum->bytes += block->bytes;
        sum->count++;
        if (sum->items_count < block->items_count)
            sum->items_count = block->items_count;
    }
    SORT(taken->items, count, compare_sums);
    sums->items = taken->items;
    sums->count = count;
}

/* A cycle has no chain, but its kind says all. */
bool held_is_named(const struct trace *trace, const struct trace_holder *holder)
{
    return holder && (*trace_string(trace, holder->chain_id) || !strcmp(holder->kind, "cycle"));
}

/* True if the walk at the end found the memory only through the traceback of the exception that
 * ended the program. The variables in the traceback kept the memory while the program ran. */
static bool is_of_last_traceback(const struct holders *holders, const struct walk_blocks *walk,
                                 const struct trace_holder *holder)
{
    return !strcmp(walk->walk->reason, "end") && !strcmp(holder->kind, "exception") &&
           !strncmp(trace_string(holders->trace, holder->chain_id), "sys.last_", 9);
}

/* Sums the blocks that are asked for; only_named: those to which a variable leads. */
static uint64_t bytes_at(const struct holders *holders, const struct walk_blocks *walk,
                         const struct held_ask *ask, bool only_named)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < walk->count; i++)
        if (walk->blocks[i].account == ask->account && is_taken(&walk->blocks[i], ask) &&
            (!only_named || (held_is_named(holders->trace, walk->blocks[i].holder) &&
                             !is_of_last_traceback(holders, walk, walk->blocks[i].holder))))
            bytes += walk->blocks[i].size_bytes;
    return bytes;
}

/* Returns the first walk, up to the moment, at which these blocks held most; NULL: they held
 * nothing. */
static const struct walk_blocks *fullest_walk(const struct holders *holders,
                                              const struct held_ask *ask, bool only_named)
{
    const struct walk_blocks *last = holders_last_walk(holders, ask->index), *fullest = NULL;
    uint64_t most_bytes = 0;
    for (const struct walk_blocks *walk = holders->walks; last && walk <= last; walk++) {
        const uint64_t bytes = bytes_at(holders, walk, ask, only_named);
        if (bytes > most_bytes) {
            most_bytes = bytes;
            fullest = walk;
        }
    }
    return fullest;
}

/* Returns the last walk; if stacks are asked for, the one at which variables held most of their
 * blocks. At the end of a program, its functions have returned, and their variables are gone. */
static const struct walk_blocks *choose_walk(const struct holders *holders,
                                             const struct held_ask *ask)
{
    const struct walk_blocks *last = holders_last_walk(holders, ask->index);
    if (!ask->takes || !last)
        return last;
    const struct walk_blocks *named = fullest_walk(holders, ask, true);
    const struct walk_blocks *fullest = named ? named : fullest_walk(holders, ask, false);
    return fullest ? fullest : last;
}

int held_sums_find(struct held_sums *sums, const struct holders *holders,
                   const struct history *history, const struct held_ask *ask, struct err *err)
{
    struct taken taken = {0};
    *sums = (struct held_sums){
        .at = ask->is_of_walk ? choose_walk(holders, ask)
                              : holders_nearest_walk(holders, ask->index, ask->is_failure)};
    if (!sums->at)
        return 0;
    if (ask->is_of_walk ? take_of_walk(&taken, sums->at, ask, err)
                        : take_of_both(&taken, sums->at, history, ask, err)) {
        free(taken.items);
        return -1;
    }
    join(sums, &taken);
    return 0;
}

void held_sums_release(struct held_sums *sums)
{
    free(sums->items);
    *sums = (struct held_sums){0};
}

/* Returns the first of `count` items if it keeps more than half of their bytes. */
static const struct held_sum *most_of(const struct held_sum *items, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += items[i].bytes;
    return count && items->holder && items->bytes > bytes / 2 ? items : NULL;
}

/* The lists of one object share its memory, so none of them need keep half of it. */
const struct held_sum *held_sums_most(const struct held_sums *sums)
{
    const struct held_sum *first = sums->count && sums->items->holder ? sums->items : NULL;
    uint64_t alike = 0;
    for (size_t i = 0; first && i < sums->count; i++)
        if (sums->items[i].holder && !strcmp(sums->items[i].holder->kind, first->holder->kind))
            alike += sums->items[i].bytes;
    return first && first->bytes >= sums->bytes / WORTH_NAMING_DIVISOR && alike > sums->bytes / 2
               ? first
               : NULL;
}

const struct held_sum *held_sums_of_stack(const struct held_sums *sums, uint32_t stack_id)
{
    const size_t low = SORTED_BELOW(struct held_sum, stack_id, sums->items, sums->count, stack_id);
    size_t count = 0;
    while (low + count < sums->count && sums->items[low + count].stack_id == stack_id)
        count++;
    return most_of(count ? &sums->items[low] : NULL, count);
}
