/* SPDX-License-Identifier: MIT */
/* Computes the peak without some bytes; see without.h. */
#include "without.h"

#include <stdlib.h>

#include "analyzer/allocator/model.h"
#include "analyzer/analysis/category_frames.h"
#include "analyzer/analysis/steps/growth_watch.h"
#include "analyzer/util/array.h"

/* A live block. The struct is small and its calls are in another array, because there are many
 * blocks and each event reads a different one. */
struct held_block {
    uint64_t size_bytes;
    uint32_t place, iteration, backward;
    struct stale_block stale; /* for blocks of backward */
    uint32_t summed;          /* bit i: question i counts the block from its birth to its end */
    uint8_t part;             /* enum part */
    bool recurs, passes;      /* traits of its place */
    bool piles_up;            /* the block is of PART_DATA, and its place piles up */
    bool is_of_graph;         /* autograd keeps the block; copied from struct block */
    bool is_of_caught;        /* the block was made in a call that failed later and was caught */
    bool is_recorded;         /* growth_is_recorded() */
    bool is_of_weight;        /* a block of backward as large as a block of the model */
    bool is_blank;            /* made empty or of a constant, as a cache is, and no batch */
};

/* Block 0 is the failed allocation; see held_number. */
enum { FAILED_BLOCK = 0 };

static uint32_t held_number(const struct cursor *at, const struct block *block)
{
    return (uint32_t)(block - at->history->blocks) + 1;
}

/* Returns the call of line `line` that holds the block. The call is SLOT_NONE if the block is not
 * under the line. */
static uint32_t *call_of(const struct without *without, const struct held_block *block, size_t line)
{
    return &without->calls[(size_t)(block - without->blocks) * without->line_count + line];
}

/* --- which blocks a question concerns --- */

static bool is_of_batch(const struct held_block *block)
{
    return block->part == PART_DATA || block->part == PART_FORWARD;
}

/* True if the block's bytes grow with the batch. In the first iteration no place recurs yet, so all
 * blocks of this iteration's batch count. A gradient of a parameter is as large as the parameter
 * with every batch, also where backward adds it to another one and frees it. */
static bool grows_with_batch(const struct without *without, const struct held_block *block)
{
    if (block->piles_up)
        return false;
    if (is_of_batch(block))
        return block->recurs || !without->lives->iterations.number;
    return block->part == PART_BACKWARD && block->passes && !block->is_of_weight;
}

/* True if the block has a size of the question. A large block may be bigger than its request, by a
 * rest that is too small to split off. */
static bool has_size(const struct without_question *question, uint64_t size_bytes)
{
    for (size_t i = 0; i < WITHOUT_SIZES_MAX && question->sizes[i]; i++) {
        const uint64_t rest_bytes =
            question->sizes[i] / 16 < 1 << 20 ? question->sizes[i] / 16 : 1 << 20;
        if (size_bytes + rest_bytes >= question->sizes[i] &&
            size_bytes <= question->sizes[i] + rest_bytes)
            return true;
    }
    return false;
}

static bool has_sign(const struct without *without, const struct without_question *question,
                     const struct held_block *block)
{
    return torch_is(without->places->items[block->place].signs, question->sign);
}

static bool concerns(const struct without *without, const struct without_question *question,
                     const struct held_block *block)
{
    switch (question->rule) {
    case WITHOUT_LINEAR:
        return grows_with_batch(without, block);
    case WITHOUT_SIZES:
        return grows_with_batch(without, block) && has_size(question, block->size_bytes) &&
               (!question->is_of_sign || has_sign(without, question, block));
    case WITHOUT_SIGN:
    case WITHOUT_PASSING:
        return has_sign(without, question, block) &&
               (question->rule == WITHOUT_SIGN || block->passes);
    case WITHOUT_STATES:
        return block->part == PART_OPTIMIZER && !block->passes;
    case WITHOUT_PILES:
        return block->piles_up && !block->is_blank && !block->recurs;
    case WITHOUT_HELD:
        return is_of_batch(block) && block->recurs && block->iteration < without->iterations.number;
    case WITHOUT_STALE:
        return block->part == PART_BACKWARD && block->iteration < without->stale_iteration;
    case WITHOUT_CALLS:
        return *call_of(without, block, question->line) != SLOT_NONE;
    case WITHOUT_CAUGHT:
        return block->is_of_caught;
    }
    return false;
}

/* True if a question with this rule counts a block from its birth on. */
static bool is_known_at_birth(enum without_rule rule)
{
    return rule == WITHOUT_LINEAR || rule == WITHOUT_SIZES || rule == WITHOUT_SIGN ||
           rule == WITHOUT_PASSING || rule == WITHOUT_STATES || rule == WITHOUT_PILES;
}

/* Returns the bytes that the question removes at a birth. For piles, the largest batch of a place
 * stays, because the program is using one batch. */
static uint64_t gone_bytes_of(struct without *without, enum without_rule rule,
                              const struct held_block *block)
{
    if (rule != WITHOUT_PILES)
        return block->size_bytes;
    uint64_t *batch_bytes = &without->batch_bytes[block->place];
    const uint64_t before_bytes = *batch_bytes;
    if (block->size_bytes <= before_bytes)
        return block->size_bytes;
    *batch_bytes = block->size_bytes;
    return before_bytes;
}

/* Size of the block that serves the request in a segment of its own, which has whole 2 MiB: a rest
 * of at most 1 MiB is not split off. So a block may be larger than another one of its size, or than
 * the refused request for one. */
static uint64_t whole_bytes(uint64_t size_bytes)
{
    const uint64_t rest_bytes =
        (ALLOCATOR_GRANULE_BYTES - size_bytes % ALLOCATOR_GRANULE_BYTES) % ALLOCATOR_GRANULE_BYTES;
    return size_bytes < ALLOCATOR_LARGE_LIMIT_BYTES || rest_bytes > ALLOCATOR_SMALL_MOST_BYTES
               ? size_bytes
               : size_bytes + rest_bytes;
}

/* Counts the live blocks of the model by size: adds a block that begins, or removes one that ends.
 */
static int count_weight(struct without *without, const struct held_block *block, bool begins,
                        struct err *err)
{
    if (block->part != PART_INIT)
        return 0;
    const uint64_t size_bytes = whole_bytes(block->size_bytes);
    const uint32_t found = pair_map_get(&without->weights, 0, size_bytes);
    const uint32_t count = found == PAIR_MAP_NONE ? 0 : found;
    return pair_map_put(&without->weights, 0, size_bytes, begins ? count + 1 : count - (count > 0),
                        err);
}

static bool has_weight_size(const struct without *without, uint64_t size_bytes)
{
    const uint32_t count = pair_map_get(&without->weights, 0, whole_bytes(size_bytes));
    return count != PAIR_MAP_NONE && count > 0;
}

/* Adds a new block to the sums of the questions. WITHOUT_HELD counts the block only from the next
 * iteration on. Stale gradients and calls are summed in other functions. */
static void begin_sums(struct without *without, struct held_block *block)
{
    if (is_of_batch(block) && block->recurs)
        without->new_bytes += block->size_bytes;
    for (size_t i = 0; i < without->count; i++) {
        struct without_question *question = &without->items[i];
        if (!is_known_at_birth(question->rule) || !concerns(without, question, block))
            continue;
        block->summed |= UINT32_C(1) << i;
        question->bytes += gone_bytes_of(without, question->rule, block);
    }
}

static void end_sums(struct without *without, const struct held_block *block)
{
    const uint64_t held_bytes = is_of_batch(block) && block->recurs ? block->size_bytes : 0;
    const bool is_new = block->iteration == without->iterations.number;
    without->new_bytes -= is_new ? held_bytes : 0;
    for (size_t i = 0; i < without->count; i++) {
        struct without_question *question = &without->items[i];
        question->bytes -= block->summed >> i & 1 ? block->size_bytes : 0;
        question->bytes -= question->rule == WITHOUT_HELD && !is_new ? held_bytes : 0;
    }
}

static int64_t gone_bytes(const struct without *without, const struct without_question *question)
{
    switch (question->rule) {
    case WITHOUT_STALE:
        return stale_gone_bytes(&without->stale);
    case WITHOUT_CALLS:
        return (int64_t)calls_gone_bytes(&without->lines[question->line]);
    default:
        return (int64_t)without_share(question, question->bytes);
    }
}

static void look(struct without *without, uint64_t live_bytes)
{
    for (size_t i = 0; i < without->count; i++) {
        struct without_question *question = &without->items[i];
        const int64_t bytes = (int64_t)(live_bytes - (uint64_t)gone_bytes(without, question));
        if (bytes > 0 && (uint64_t)bytes > question->high_bytes)
            question->high_bytes = (uint64_t)bytes;
    }
}

/* --- places --- */

enum place_trait { TRAIT_RECURS = 1, TRAIT_PASSES = 2, TRAIT_PILES_UP = 4 };

static unsigned find_traits(const struct lives *lives, uint32_t place)
{
    const struct place_life life = lives_of(lives, place);
    return (life_recurs(&life) ? TRAIT_RECURS : 0u) | (life_passes(&life) ? TRAIT_PASSES : 0u) |
           (life_piles_up(&life) ? TRAIT_PILES_UP : 0u);
}

/* Returns the traits of a place. Reads most traits from a compact array, because they are looked up
 * for every block. */
static unsigned traits_of(const struct without *without, uint32_t place)
{
    return place < without->trait_count ? without->traits[place]
                                        : find_traits(without->lives, place);
}

int without_begin(struct without *without, struct err *err)
{
    const size_t count = without->lives->count;
    without->traits = array_new(count, sizeof *without->traits, err);
    without->batch_bytes = array_new(count, sizeof *without->batch_bytes, err);
    if (!without->traits || !without->batch_bytes)
        return -1;
    without->trait_count = count;
    for (uint32_t place = 0; place < count; place++)
        without->traits[place] = (uint8_t)find_traits(without->lives, place);
    return 0;
}

/* --- blocks --- */

static void begin_iteration(struct without *without, bool had_optimized)
{
    for (size_t i = 0; i < without->count; i++)
        if (without->items[i].rule == WITHOUT_HELD)
            without->items[i].bytes += without->new_bytes;
    without->new_bytes = 0;
    if (without->needs_optimizer && !had_optimized)
        return;
    without->stale_iteration = without->iterations.number;
    stale_begin_iteration(&without->stale);
}

static int begin_calls(struct without *without, uint32_t number, struct held_block *block,
                       struct err *err)
{
    for (size_t i = 0; i < without->line_count; i++) {
        struct calls *calls = &without->lines[i];
        uint32_t *call = call_of(without, block, i);
        *call = SLOT_NONE;
        if (block->part == PART_FORWARD &&
            place_is_under(without->places, block->place, calls->location)) {
            *call = calls_begin_block(calls, block->place, number, block->size_bytes, err);
            if (*call == SLOT_NONE)
                return -1;
        } else if (block->part == PART_FORWARD || block->part == PART_OPTIMIZER) {
            calls_close(calls);
        }
    }
    return 0;
}

static struct held_block *reach_block(struct without *without, uint32_t number, struct err *err)
{
    /* One item of `calls` has a number for each line. */
    const size_t call_bytes = without->line_count * sizeof *without->calls;
    size_t count = without->block_count;
    if (call_bytes &&
        array_reach(&without->calls, &without->call_capacity, &count, call_bytes, number, err))
        return NULL;
    if (ARRAY_REACH(without->blocks, without->block_capacity, without->block_count, number, err))
        return NULL;
    return &without->blocks[number];
}

static int begin_block(struct without *without, uint32_t number, const struct held_block *born,
                       struct err *err)
{
    struct held_block *block = reach_block(without, number, err);
    if (!block)
        return -1;
    *block = *born;
    const unsigned traits = traits_of(without, block->place);
    block->recurs = traits & TRAIT_RECURS;
    block->passes = traits & TRAIT_PASSES;
    block->piles_up = block->part == PART_DATA && traits & TRAIT_PILES_UP;
    block->is_of_weight =
        block->part == PART_BACKWARD && has_weight_size(without, block->size_bytes);
    if (count_weight(without, block, true, err))
        return -1;
    const bool had_optimized = without->iterations.has_optimized;
    const struct iteration_birth birth = {
        .part = block->part, .backward = block->backward, .is_recorded = block->is_recorded};
    if (iterations_allocate(&without->iterations, &birth))
        begin_iteration(without, had_optimized);
    block->iteration = without->iterations.number;
    if (block->part == PART_BACKWARD &&
        stale_begin_block(&without->stale, block->place, block->size_bytes, &block->stale, err))
        return -1;
    begin_sums(without, block);
    return begin_calls(without, number, block, err);
}

static int end_block(struct without *without, uint32_t number, struct err *err)
{
    const struct held_block *block = &without->blocks[number];
    end_sums(without, block);
    if (block->part == PART_BACKWARD)
        stale_end_block(&without->stale, &block->stale, block->size_bytes,
                        block->iteration < without->stale_iteration,
                        without->iterations.part == PART_BACKWARD);
    for (size_t i = 0; i < without->line_count; i++) {
        const uint32_t call = *call_of(without, block, i);
        if (call != SLOT_NONE)
            calls_end_block(&without->lines[i], call, number, block->size_bytes);
    }
    return count_weight(without, block, false, err);
}

/* --- caught failures --- */

/* Returns the call that fails next. After the last failure, returns NULL. */
static const struct caught_call *next_caught(const struct without *without)
{
    return without->caught_count < without->caught->count
               ? &without->caught->calls[without->caught_count]
               : NULL;
}

/* Moves the beginning of the call: first to the first block of this iteration, afterwards past each
 * block that was made outside of the call. */
static void follow_call(struct without *without, const struct held_block *block, uint64_t index)
{
    const struct caught_call *call = next_caught(without);
    if (!call)
        return;
    if (block->iteration != without->call_iteration)
        without->call_begin_index = index;
    without->call_iteration = block->iteration;
    if (block->part != PART_BACKWARD && !place_is_in(without->places, block->place, call->place))
        without->call_begin_index = index + 1;
}

/* Ends the call, because it failed. From now on the exception may hold the call's blocks of
 * forward. */
static void end_call(struct without *without, const struct history *history)
{
    const uint32_t place = next_caught(without)->place;
    for (uint32_t i = 0; i < history->block_slots.used; i++) {
        const struct block *block = &history->blocks[i];
        if (block->account != without->account)
            continue;
        struct held_block *held = &without->blocks[i + 1];
        held->is_of_caught |= (held->part == PART_FORWARD || held->part == PART_OTHER) &&
                              block->life.begin_index >= without->call_begin_index &&
                              place_is_in(without->places, held->place, place);
    }
    without->caught_count++;
}

/* --- the replay --- */

static bool describe(struct without *without, struct held_block *born, uint32_t stack_id,
                     uint32_t path, uint64_t size_bytes, bool is_of_graph, struct err *err)
{
    *born =
        (struct held_block){.size_bytes = size_bytes,
                            .is_of_graph = is_of_graph,
                            .place = places_of(without->places, stack_id, err),
                            .part = (uint8_t)part_of_block(without->categories, path, stack_id)};
    return born->place != PLACE_NONE;
}

static bool counts(const struct without *without, const struct cursor *at)
{
    return !without->failure || at->index <= without->moment;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct without *without = self;
    const struct block *block = change->block;
    struct held_block born;
    if (block->account != without->account || !counts(without, at))
        return 0;
    if (!change->birth) {
        if (end_block(without, held_number(at, block), at->err))
            return -1;
    } else {
        if (!describe(without, &born, site_stack(block->site_id), block->deciding_path,
                      block->size_bytes, block->is_of_graph, at->err))
            return -1;
        born.backward = block->backward;
        born.is_recorded = growth_is_recorded(without->places->trace, block);
        const enum made made = category_made(without->categories, block);
        born.is_blank = made == MADE_empty || made == MADE_constant;
        if (begin_block(without, held_number(at, block), &born, at->err))
            return -1;
    }
    if (change->birth)
        follow_call(without, &without->blocks[held_number(at, block)], at->index);
    if (!change->is_resize)
        look(without, at->history->accounts[without->account].live_bytes);
    return 0;
}

static void note_most(struct without *without, const struct held_block *block, uint64_t site_id,
                      uint64_t largest_bytes[])
{
    for (size_t i = 0; i < without->count; i++) {
        struct without_question *question = &without->items[i];
        if (!concerns(without, question, block))
            continue;
        question->most_bytes += block->size_bytes;
        question->iterations |= UINT32_C(1) << block->iteration % 32;
        question->is_of_graph |= block->is_of_graph;
        if (block->size_bytes > largest_bytes[i]) {
            largest_bytes[i] = block->size_bytes;
            question->most_site_id = site_id;
        }
    }
}

/* Notes the blocks that each question concerns at the moment. */
static int note_moment(struct without *without, const struct cursor *at,
                       const struct failure *failed)
{
    const struct history *history = at->history;
    uint64_t *largest_bytes = array_new(without->count, sizeof *largest_bytes, at->err);
    if (!largest_bytes)
        return -1;
    for (uint32_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account == without->account)
            note_most(without, &without->blocks[i + 1], history->blocks[i].site_id, largest_bytes);
    if (failed)
        note_most(without, &without->blocks[FAILED_BLOCK], failed->site_id, largest_bytes);
    free(largest_bytes);
    return 0;
}

/* Handles an event. Counts the refused request as if it had been served. */
static int on_event(void *self, const struct cursor *at)
{
    struct without *without = self;
    const struct failure *failure = without->failure;
    const struct caught_call *caught = next_caught(without);
    struct held_block born;
    if (caught && at->index == caught->end_index)
        end_call(without, at->history);
    if (at->index != without->moment)
        return 0;
    if (failure && failure->account != without->account)
        failure = NULL;
    if (failure && (!describe(without, &born, failure->event.stack_id, failure->path,
                              failure->event.size_bytes, false, at->err) ||
                    begin_block(without, FAILED_BLOCK, &born, at->err)))
        return -1;
    if (failure)
        look(without, at->history->accounts[without->account].live_bytes + born.size_bytes);
    return note_moment(without, at, failure);
}

struct observer without_observer(struct without *without)
{
    return (struct observer){.self = without, .on_change = on_change, .on_event = on_event};
}

void without_release(struct without *without)
{
    for (size_t i = 0; i < without->line_count; i++)
        calls_release(&without->lines[i]);
    stale_release(&without->stale);
    pair_map_release(&without->weights);
    free(without->blocks);
    free(without->calls);
    free(without->traits);
    free(without->batch_bytes);
    without->blocks = NULL;
    without->calls = NULL;
    without->traits = NULL;
    without->batch_bytes = NULL;
}
