/* SPDX-License-Identifier: MIT */
/* Sums by holder; see held_sums.h. */
#include "held_sums.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/thresholds/thresholds.h"
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

static int take_block(struct taken *taken, const struct held_block *block, bool is_old,
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
                          .items_count = block->holder ? block->holder->items_count : 0,
                          .old_count = is_old};
    return 0;
}

ORDER_BY(compare_births, struct held_block, RISING(account), RISING(stack_id),
         FALLING(begin_index));

static int take_of_walk(struct taken *taken, const struct walk_blocks *walk,
                        const struct held_ask *ask, struct err *err)
{
    struct held_block *blocks = array_new(walk->count, sizeof *blocks, err);
    uint64_t newer = 0; /* blocks of the same call stack */
    int status = blocks ? 0 : -1;
    if (blocks && walk->count)
        memcpy(blocks, walk->blocks, walk->count * sizeof *blocks);
    if (blocks && ask->takes)
        SORT(blocks, walk->count, compare_births);
    for (size_t i = 0; i < walk->count && !status; i++) {
        const struct held_block *block = &blocks[i];
        newer = i && block[-1].stack_id == block->stack_id ? newer + 1 : 0;
        if (block->account == ask->account)
            status = take_block(taken, block, !ask->takes || newer >= ask->takes[block->stack_id],
                                ask, err);
    }
    free(blocks);
    return status;
}

static int take_of_both(struct taken *taken, const struct walk_blocks *walk,
                        const struct history *history, const struct held_ask *ask, struct err *err)
{
    struct live_walk live = live_walk_begin(history, ask->account, ask->index);
    const struct block *block;
    while ((block = live_walk_next(&live))) {
        if (ask->filter && !ask->filter->takes(ask->filter->self, block))
            continue;
        const struct held_block *held = walk_blocks_find(walk, block);
        if (held && take_block(taken, held, true, ask, err))
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

/* Drops what holds no block that is old. */
static size_t drop_new(struct held_sum *items, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].old_count)
            items[left++] = items[i];
    return left;
}

static void join(struct held_sums *sums, struct taken *taken)
{
    size_t count = 0;
    SORT(taken->items, taken->count, compare_blocks);
    for (size_t i = 0; i < taken->count; i++) {
        const struct held_sum *block = &taken->items[i];
        struct held_sum *sum = count ? &taken->items[count - 1] : NULL;

        if (!sum || compare_holders(sum, block)) {
            taken->items[count++] = *block;
            continue;
        }
        sum->bytes += block->bytes;
        sum->count++;
        sum->old_count += block->old_count;
        if (sum->items_count < block->items_count)
            sum->items_count = block->items_count;
    }
    count = drop_new(taken->items, count);
    SORT(taken->items, count, compare_sums);
    for (size_t i = 0; i < count; i++)
        sums->bytes += taken->items[i].bytes;
    sums->items = taken->items;
    sums->count = count;
}

static bool is_cycle(const struct trace_holder *holder)
{
    return holder && !strcmp(holder->kind, "cycle");
}

/* A cycle has no chain, but its kind says all. */
bool held_is_named(const struct trace *trace, const struct trace_holder *holder)
{
    return holder && (*trace_string(trace, holder->chain_id) || is_cycle(holder));
}

/* True if the walk at the end found the memory only through the traceback of the exception that
 * ended the program. The variables in the traceback kept the memory while the program ran. */
static bool is_of_last_traceback(const struct holders *holders, const struct trace_holder *holder)
{
    return !strcmp(holder->kind, "exception") &&
           !strncmp(trace_string(holders->trace, holder->chain_id), "sys.last_", 9);
}

static bool has_cycle(const struct held_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        if (is_cycle(sums->items[i].holder))
            return true;
    return false;
}

/* True if the walk at the end tells less of the memory than one of the running program: of a
 * traceback, or of a cycle that variables led to until their functions returned. `before` is what
 * the earlier walk found. */
static bool is_of_end(const struct holders *holders, const struct walk_blocks *walk,
                      const struct trace_holder *holder, const struct held_sums *before)
{
    return !strcmp(walk->walk->reason, "end") &&
           (is_of_last_traceback(holders, holder) ||
            (is_cycle(holder) && before->count && !has_cycle(before)));
}

/* --- the walk --- */

static int find_at(struct held_sums *sums, const struct walk_blocks *walk,
                   const struct history *history, const struct held_ask *ask, struct err *err)
{
    struct taken taken = {0};
    *sums = (struct held_sums){.at = walk};
    if (!walk)
        return 0;
    if (ask->is_of_walk ? take_of_walk(&taken, walk, ask, err)
                        : take_of_both(&taken, walk, history, ask, err)) {
        free(taken.items);
        return -1;
    }
    join(sums, &taken);
    return 0;
}

/* Sums the blocks to which a variable leads. before: see is_of_end. */
static uint64_t named_bytes(const struct holders *holders, const struct held_sums *sums,
                            const struct held_sums *before)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sums->count; i++)
        if (held_is_named(holders->trace, sums->items[i].holder) &&
            !is_of_end(holders, sums->at, sums->items[i].holder, before))
            bytes += sums->items[i].bytes;
    return bytes;
}

/* Takes the first walk, up to the moment, at which variables held most of the blocks; if they held
 * none, the one at which these were most. At the end of a program, its functions have returned, and
 * their variables are gone. */
static int find_fullest(struct held_sums *sums, const struct holders *holders,
                        const struct history *history, const struct held_ask *ask, struct err *err)
{
    const struct walk_blocks *last = holders_last_walk(holders, ask->index);
    *sums = (struct held_sums){0};
    for (const struct walk_blocks *walk = holders->walks; last && walk <= last; walk++) {
        struct held_sums at;
        if (find_at(&at, walk, history, ask, err)) {
            held_sums_release(sums);
            return -1;
        }
        const uint64_t named = named_bytes(holders, &at, sums);
        const uint64_t most = named_bytes(holders, sums, sums);
        const bool is_fuller = named == most ? !named && at.bytes > sums->bytes : named > most;
        held_sums_release(is_fuller ? sums : &at);
        if (is_fuller)
            *sums = at;
    }
    return sums->at ? 0 : find_at(sums, last, history, ask, err);
}

int held_sums_find(struct held_sums *sums, const struct holders *holders,
                   const struct history *history, const struct held_ask *ask, struct err *err)
{
    if (ask->takes)
        return find_fullest(sums, holders, history, ask, err);
    return find_at(sums,
                   ask->is_of_walk ? holders_last_walk(holders, ask->index)
                                   : holders_nearest_walk(holders, ask->index, ask->is_failure),
                   history, ask, err);
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

/* Returns the chain of a container, to which the chains of its items begin; "": it is none. */
static const char *container_chain(const struct trace *trace, const struct held_sum *sum)
{
    static const char item[] = "[*]";
    const char *chain = sum->holder ? trace_string(trace, sum->holder->chain_id) : "";
    const size_t length = strlen(chain), end = sizeof item - 1;
    return sum->items_count && length > end && !strcmp(chain + length - end, item) ? chain : "";
}

/* True if the container leads to what the holder keeps. A graph, or the frames of an exception
 * (" -> "), are a cause of their own. */
static bool leads_to(const struct trace *trace, const char *container, const struct held_sum *sum)
{
    const char *chain = sum->holder ? trace_string(trace, sum->holder->chain_id) : "";
    const size_t length = strlen(container);
    return !strncmp(chain, container, length) && !strstr(chain + length, " -> ");
}

/* Returns the item with the bytes of all that it leads to, if it is a container. */
static struct held_sum with_inner(const struct trace *trace, const struct held_sums *sums, size_t i)
{
    const char *chain = container_chain(trace, &sums->items[i]);
    struct held_sum all = sums->items[i];
    for (size_t k = 0; k < sums->count && *chain; k++)
        if (k != i && leads_to(trace, chain, &sums->items[k]))
            all.bytes += sums->items[k].bytes;
    return all;
}

bool held_sums_outer(struct held_sum *outer, const struct trace *trace,
                     const struct held_sums *sums)
{
    *outer = (struct held_sum){0};
    for (size_t i = 0; i < sums->count; i++) {
        const struct held_sum all = with_inner(trace, sums, i);
        if (*container_chain(trace, &all) && all.bytes > outer->bytes)
            *outer = all;
    }
    return outer->bytes > sums->bytes / 2;
}

struct held_sum held_sums_attribute(const struct trace *trace, const struct held_sums *sums,
                                    const struct held_sum *outer)
{
    const char *chain = container_chain(trace, outer);
    struct held_sum attribute = {0};
    uint64_t bytes = 0, most = 0;
    for (size_t i = 0; i < sums->count && *chain; i++) {
        const struct held_sum *sum = &sums->items[i];
        if (!sum->holder || strcmp(sum->holder->kind, "attribute") || !leads_to(trace, chain, sum))
            continue;
        bytes += sum->bytes;
        if (sum->bytes > most) {
            most = sum->bytes;
            attribute = *sum;
        }
    }
    attribute.bytes = bytes;
    return bytes >= outer->bytes / WORTH_NAMING_DIVISOR ? attribute : (struct held_sum){0};
}

/* True if one of two holders is a part of the other, or is the same. */
static bool overlap(const struct trace *trace, const struct held_sum *a, const struct held_sum *b)
{
    const char *chain_of_a = container_chain(trace, a), *chain_of_b = container_chain(trace, b);
    return !compare_chains(a->holder, b->holder) ||
           (*chain_of_a && leads_to(trace, chain_of_a, b)) ||
           (*chain_of_b && leads_to(trace, chain_of_b, a));
}

struct held_sum held_sums_second(const struct trace *trace, const struct held_sums *sums,
                                 const struct held_sum *first)
{
    struct held_sum second = {0};
    for (size_t i = 0; i < sums->count; i++) {
        const struct held_sum all = with_inner(trace, sums, i);
        if (all.bytes > second.bytes && held_is_named(trace, all.holder) && !is_cycle(all.holder) &&
            !overlap(trace, first, &all))
            second = all;
    }
    return second.bytes >= sums->bytes / WORTH_NAMING_DIVISOR ? second : (struct held_sum){0};
}

/* The smaller variables of a program do not keep most. */
enum { VARIABLES_LOOKED_AT = 64 };

/* Returns the length of the chain up to the end of the name, attribute or key that begins there. */
static size_t part_end(const char *chain, size_t begin)
{
    size_t end = begin;
    if (chain[end] == '[')
        return end + strcspn(chain + end, "]") + (strchr(chain + end, ']') != NULL);
    return end + 1 + strcspn(chain + end + 1, ".[");
}

/* Returns the length of the chain up to its variable. A graph, an exception or a cycle is a cause
 * of its own, with all that leads to it. */
static size_t variable_end(const char *chain)
{
    const char *name = strstr(chain, ": ");
    if (!*chain || strstr(chain, " -> "))
        return strlen(chain);
    return part_end(chain, name ? (size_t)(name - chain) + strlen(": ") : 0);
}

/* Sums the items whose chains begin with a part of this chain. */
static uint64_t bytes_below(const struct trace *trace, const struct held_sums *sums,
                            const char *chain, size_t length)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sums->count; i++) {
        const struct trace_holder *holder = sums->items[i].holder;
        const char *other = holder ? trace_string(trace, holder->chain_id) : "";
        if (!strncmp(other, chain, length) && !strstr(other + length, " -> ") &&
            (!other[length] || strchr(".[", other[length])))
            bytes += sums->items[i].bytes;
    }
    return bytes;
}

bool held_sum_leads_to(const struct trace *trace, const struct held_sum *sum,
                       const struct trace_holder *holder)
{
    const char *chain = trace_string(trace, sum->holder->chain_id);
    return sum->chain_bytes
               ? !strncmp(chain, trace_string(trace, holder->chain_id), sum->chain_bytes)
               : sum->holder->chain_id == holder->chain_id;
}

struct held_sum held_sums_variable(const struct trace *trace, const struct held_sums *sums)
{
    struct held_sum most = {0};
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < sums->count && i < VARIABLES_LOOKED_AT; i++) {
        const char *chain =
            sums->items[i].holder ? trace_string(trace, sums->items[i].holder->chain_id) : "";
        const size_t end = strlen(chain);
        size_t length = variable_end(chain);
        const uint64_t all =
            *chain ? bytes_below(trace, sums, chain, length) : sums->items[i].bytes;
        if (!sums->items[i].holder || all <= most_bytes)
            continue;
        most = sums->items[i];
        most.bytes = most_bytes = all;
        while (length < end) {
            const size_t next = part_end(chain, length);
            const uint64_t bytes = bytes_below(trace, sums, chain, next);
            if (bytes < all - all / PART_LEFT_DIVISOR)
                break;
            length = next;
            most.bytes = bytes;
        }
        if (length < end) {
            most.chain_bytes = length;
            most.items_count = 0;
        }
    }
    return most;
}

const struct held_sum *held_sums_of_stack(const struct held_sums *sums, uint32_t stack_id)
{
    const size_t low = SORTED_BELOW(struct held_sum, stack_id, sums->items, sums->count, stack_id);
    size_t count = 0;
    while (low + count < sums->count && sums->items[low + count].stack_id == stack_id)
        count++;
    return most_of(count ? &sums->items[low] : NULL, count);
}
