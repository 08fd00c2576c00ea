/* SPDX-License-Identifier: MIT */
/* What if some bytes had not been there; see what_if.h. */
#include "what_if.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* What is known of a block from its birth on. There are many, and each event is about another one: it
 * is small, and its calls stand elsewhere. */
struct held_block {
    uint64_t size_bytes;
    uint32_t place, round;
    struct stale_block stale; /* of backward */
    uint32_t summed;          /* which questions sum it from its birth to its end, by bit */
    uint8_t part;             /* enum part */
    bool recurs, passes;      /* its place does */
    bool piles_up;            /* it is a batch, and its place does */
    bool is_of_graph;         /* as a block's */
    bool is_of_caught;        /* a call made it that failed later, and was caught */
};

/* The failed allocation comes first; see held_number. */
enum { FAILED_BLOCK = 0 };

static uint32_t held_number(const struct cursor *at, const struct block *block)
{
    return (uint32_t)(block - at->history->blocks) + 1;
}

/* The call of a line that holds it; SLOT_NONE: it is not under the line. */
static uint32_t *call_of(const struct what_ifs *what_ifs, const struct held_block *block,
                         size_t line)
{
    return &what_ifs->calls[(size_t)(block - what_ifs->blocks) * what_ifs->line_count + line];
}

/* --- which blocks a question concerns --- */

static bool is_of_batch(const struct held_block *block)
{
    return block->part == PART_DATA || block->part == PART_FORWARD;
}

/* In the first round nothing is known to recur. */
static bool grows_with_batch(const struct what_ifs *what_ifs, const struct held_block *block)
{
    if (block->piles_up)
        return false;
    if (is_of_batch(block))
        return block->recurs || !what_ifs->lives->rounds.number;
    return block->part == PART_BACKWARD && block->passes;
}

/* A block of a large size may have a rest that was not worth splitting. */
static bool has_size(const struct what_if *what_if, uint64_t size_bytes)
{
    for (size_t i = 0; i < WHAT_IF_SIZES_MAX && what_if->sizes[i]; i++) {
        const uint64_t rest_bytes =
            what_if->sizes[i] / 16 < 1 << 20 ? what_if->sizes[i] / 16 : 1 << 20;
        if (size_bytes + rest_bytes >= what_if->sizes[i] &&
            size_bytes <= what_if->sizes[i] + rest_bytes)
            return true;
    }
    return false;
}

static bool concerns(const struct what_ifs *what_ifs, const struct what_if *what_if,
                     const struct held_block *block)
{
    switch (what_if->rule) {
    case WHAT_LINEAR:
        return grows_with_batch(what_ifs, block);
    case WHAT_SIZES:
        return grows_with_batch(what_ifs, block) && has_size(what_if, block->size_bytes);
    case WHAT_SIGN:
        return what_ifs->places->items[block->place].signs >> what_if->sign & 1;
    case WHAT_STATES:
        return block->part == PART_OPTIMIZER && !block->passes;
    case WHAT_PILES:
        return block->piles_up;
    case WHAT_HELD:
        return is_of_batch(block) && block->recurs && block->round < what_ifs->rounds.number;
    case WHAT_STALE:
        return block->part == PART_BACKWARD && block->round < what_ifs->stale_round;
    case WHAT_CALLS:
        return *call_of(what_ifs, block, what_if->line) != SLOT_NONE;
    case WHAT_CAUGHT:
        return block->is_of_caught;
    }
    return false;
}

/* Whether a block counts for such a question from its birth on. */
static bool is_known_at_birth(enum what_rule rule)
{
    return rule == WHAT_LINEAR || rule == WHAT_SIZES || rule == WHAT_SIGN || rule == WHAT_STATES ||
           rule == WHAT_PILES;
}

/* Of the batches that a place moved, the largest is needed at a time: the others are gone. */
static uint64_t gone_bytes_of(struct what_ifs *what_ifs, enum what_rule rule,
                              const struct held_block *block)
{
    if (rule != WHAT_PILES)
        return block->size_bytes;
    uint64_t *batch_bytes = &what_ifs->batch_bytes[block->place];
    const uint64_t before_bytes = *batch_bytes;
    if (block->size_bytes <= before_bytes)
        return block->size_bytes;
    *batch_bytes = block->size_bytes;
    return before_bytes;
}

/* What is held over, from the next round on; what is stale or of calls is summed elsewhere. */
static void begin_sums(struct what_ifs *what_ifs, struct held_block *block)
{
    if (is_of_batch(block) && block->recurs)
        what_ifs->new_bytes += block->size_bytes;
    for (size_t i = 0; i < what_ifs->count; i++) {
        struct what_if *what_if = &what_ifs->items[i];
        if (!is_known_at_birth(what_if->rule) || !concerns(what_ifs, what_if, block))
            continue;
        block->summed |= UINT32_C(1) << i;
        what_if->bytes += gone_bytes_of(what_ifs, what_if->rule, block);
    }
}

static void end_sums(struct what_ifs *what_ifs, const struct held_block *block)
{
    const uint64_t held_bytes = is_of_batch(block) && block->recurs ? block->size_bytes : 0;
    const bool is_new = block->round == what_ifs->rounds.number;
    what_ifs->new_bytes -= is_new ? held_bytes : 0;
    for (size_t i = 0; i < what_ifs->count; i++) {
        struct what_if *what_if = &what_ifs->items[i];
        what_if->bytes -= block->summed >> i & 1 ? block->size_bytes : 0;
        what_if->bytes -= what_if->rule == WHAT_HELD && !is_new ? held_bytes : 0;
    }
}

static int64_t gone_bytes(const struct what_ifs *what_ifs, const struct what_if *what_if)
{
    switch (what_if->rule) {
    case WHAT_STALE:
        return stale_gone_bytes(&what_ifs->stale);
    case WHAT_CALLS:
        return (int64_t)calls_gone_bytes(&what_ifs->lines[what_if->line]);
    default:
        return (int64_t)(what_if->bytes / what_if->whole * what_if->part_of);
    }
}

static void look(struct what_ifs *what_ifs, uint64_t live_bytes)
{
    for (size_t i = 0; i < what_ifs->count; i++) {
        struct what_if *what_if = &what_ifs->items[i];
        const int64_t bytes = (int64_t)(live_bytes - (uint64_t)gone_bytes(what_ifs, what_if));
        if (bytes > 0 && (uint64_t)bytes > what_if->high_bytes)
            what_if->high_bytes = (uint64_t)bytes;
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

/* Only what is known of a place counts: most are looked up, and few bytes are kept of each. */
static unsigned traits_of(const struct what_ifs *what_ifs, uint32_t place)
{
    return place < what_ifs->trait_count ? what_ifs->traits[place]
                                         : find_traits(what_ifs->lives, place);
}

int what_ifs_begin(struct what_ifs *what_ifs, struct err *err)
{
    const size_t count = what_ifs->lives->count;
    what_ifs->traits = array_new(count, sizeof *what_ifs->traits, err);
    what_ifs->batch_bytes = array_new(count, sizeof *what_ifs->batch_bytes, err);
    if (!what_ifs->traits || !what_ifs->batch_bytes)
        return -1;
    what_ifs->trait_count = count;
    for (uint32_t place = 0; place < count; place++)
        what_ifs->traits[place] = (uint8_t)find_traits(what_ifs->lives, place);
    return 0;
}

/* --- blocks --- */

static void begin_round(struct what_ifs *what_ifs, bool had_optimized)
{
    for (size_t i = 0; i < what_ifs->count; i++)
        if (what_ifs->items[i].rule == WHAT_HELD)
            what_ifs->items[i].bytes += what_ifs->new_bytes;
    what_ifs->new_bytes = 0;
    if (what_ifs->needs_optimizer && !had_optimized)
        return;
    what_ifs->stale_round = what_ifs->rounds.number;
    stale_begin_round(&what_ifs->stale);
}

static int begin_calls(struct what_ifs *what_ifs, uint32_t number, struct held_block *block,
                       struct err *err)
{
    for (size_t i = 0; i < what_ifs->line_count; i++) {
        struct calls *calls = &what_ifs->lines[i];
        uint32_t *call = call_of(what_ifs, block, i);
        *call = SLOT_NONE;
        if (block->part == PART_FORWARD &&
            place_is_under(what_ifs->places, block->place, calls->location)) {
            *call = calls_begin_block(calls, block->place, number, block->size_bytes, err);
            if (*call == SLOT_NONE)
                return -1;
        } else if (block->part == PART_FORWARD || block->part == PART_OPTIMIZER) {
            calls_close(calls);
        }
    }
    return 0;
}

static struct held_block *reach_block(struct what_ifs *what_ifs, uint32_t number, struct err *err)
{
    const size_t call_bytes = what_ifs->line_count * sizeof *what_ifs->calls;
    size_t count = what_ifs->block_count;
    if (call_bytes) {
        uint32_t *calls =
            array_reach(what_ifs->calls, &what_ifs->call_capacity, &count, call_bytes, number, err);
        if (!calls)
            return NULL;
        what_ifs->calls = calls;
    }
    struct held_block *blocks = array_reach(what_ifs->blocks, &what_ifs->block_capacity,
                                            &what_ifs->block_count, sizeof *blocks, number, err);
    if (!blocks)
        return NULL;
    what_ifs->blocks = blocks;
    return &blocks[number];
}

static int begin_block(struct what_ifs *what_ifs, uint32_t number, const struct held_block *born,
                       struct err *err)
{
    struct held_block *block = reach_block(what_ifs, number, err);
    if (!block)
        return -1;
    *block = *born;
    const unsigned traits = traits_of(what_ifs, block->place);
    block->recurs = traits & TRAIT_RECURS;
    block->passes = traits & TRAIT_PASSES;
    block->piles_up = block->part == PART_DATA && traits & TRAIT_PILES_UP;
    const bool had_optimized = what_ifs->rounds.has_optimized;
    if (rounds_allocate(&what_ifs->rounds, block->part))
        begin_round(what_ifs, had_optimized);
    block->round = what_ifs->rounds.number;
    if (block->part == PART_BACKWARD &&
        stale_begin_block(&what_ifs->stale, block->place, block->size_bytes, &block->stale, err))
        return -1;
    begin_sums(what_ifs, block);
    return begin_calls(what_ifs, number, block, err);
}

static void end_block(struct what_ifs *what_ifs, uint32_t number)
{
    const struct held_block *block = &what_ifs->blocks[number];
    end_sums(what_ifs, block);
    if (block->part == PART_BACKWARD)
        stale_end_block(&what_ifs->stale, &block->stale, block->size_bytes,
                        block->round < what_ifs->stale_round,
                        what_ifs->rounds.part == PART_BACKWARD);
    for (size_t i = 0; i < what_ifs->line_count; i++) {
        const uint32_t call = *call_of(what_ifs, block, i);
        if (call != SLOT_NONE)
            calls_end_block(&what_ifs->lines[i], call, number, block->size_bytes);
    }
}

/* --- calls that failed --- */

/* The call began in this round, after whatever was made outside of it. */
static void follow_call(struct what_ifs *what_ifs, const struct held_block *block, uint64_t index)
{
    if (block->round != what_ifs->call_round)
        what_ifs->call_begin_index = index;
    what_ifs->call_round = block->round;
    if (block->part != PART_BACKWARD &&
        !place_is_in(what_ifs->places, block->place, what_ifs->caught->place))
        what_ifs->call_begin_index = index + 1;
}

/* It failed: what it made of forward may be held from now on by the exception. */
static void end_call(struct what_ifs *what_ifs, const struct history *history)
{
    for (uint32_t i = 0; i < history->block_slots.used; i++) {
        const struct block *block = &history->blocks[i];
        if (block->account != what_ifs->account)
            continue;
        struct held_block *held = &what_ifs->blocks[i + 1];
        held->is_of_caught |= (held->part == PART_FORWARD || held->part == PART_OTHER) &&
                              block->life.begin_index >= what_ifs->call_begin_index &&
                              place_is_in(what_ifs->places, held->place, what_ifs->caught->place);
    }
    what_ifs->caught_count++;
}

/* --- the replay --- */

static bool describe(struct what_ifs *what_ifs, struct held_block *born, uint32_t stack_id,
                     uint32_t path, uint64_t size_bytes, bool is_of_graph, struct err *err)
{
    *born =
        (struct held_block){.size_bytes = size_bytes,
                            .is_of_graph = is_of_graph,
                            .place = places_of(what_ifs->places, stack_id, err),
                            .part = (uint8_t)part_of_block(what_ifs->categories, path, stack_id)};
    return born->place != PLACE_NONE;
}

static bool counts(const struct what_ifs *what_ifs, const struct cursor *at)
{
    return !what_ifs->failure || at->index <= what_ifs->moment;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct what_ifs *what_ifs = self;
    const struct block *block = change->block;
    struct held_block born;
    (void)spans;
    if (block->account != what_ifs->account || !counts(what_ifs, at))
        return 0;
    if (!change->birth)
        end_block(what_ifs, held_number(at, block));
    else if (!describe(what_ifs, &born, block->stack_id, block->deciding_path, block->size_bytes,
                       block->is_of_graph, at->err) ||
             begin_block(what_ifs, held_number(at, block), &born, at->err))
        return -1;
    if (change->birth && what_ifs->caught->count)
        follow_call(what_ifs, &what_ifs->blocks[held_number(at, block)], at->index);
    if (!change->is_half)
        look(what_ifs, at->history->accounts[what_ifs->account].live_bytes);
    return 0;
}

static void note_most(struct what_ifs *what_ifs, const struct held_block *block, uint32_t stack_id,
                      uint32_t forward_stack_id, uint64_t largest_bytes[])
{
    for (size_t i = 0; i < what_ifs->count; i++) {
        struct what_if *what_if = &what_ifs->items[i];
        if (!concerns(what_ifs, what_if, block))
            continue;
        what_if->most_bytes += block->size_bytes;
        what_if->is_of_graph |= block->is_of_graph;
        if (block->size_bytes > largest_bytes[i]) {
            largest_bytes[i] = block->size_bytes;
            what_if->most_stack = stack_id;
            what_if->most_forward_stack = forward_stack_id;
        }
    }
}

/* What the questions concern at the moment itself. */
static int note_moment(struct what_ifs *what_ifs, const struct cursor *at,
                       const struct failure *failed)
{
    const struct history *history = at->history;
    uint64_t *largest_bytes = array_new(what_ifs->count, sizeof *largest_bytes, at->err);
    if (!largest_bytes)
        return -1;
    for (uint32_t i = 0; i < history->block_slots.used; i++)
        if (history->blocks[i].account == what_ifs->account)
            note_most(what_ifs, &what_ifs->blocks[i + 1], history->blocks[i].stack_id,
                      history->blocks[i].forward_stack_id, largest_bytes);
    if (failed)
        note_most(what_ifs, &what_ifs->blocks[FAILED_BLOCK], failed->event.stack_id,
                  failed->forward_stack_id, largest_bytes);
    free(largest_bytes);
    return 0;
}

/* What was refused counts as if it had been served. */
static int on_event(void *self, const struct cursor *at)
{
    struct what_ifs *what_ifs = self;
    const struct failure *failure = what_ifs->failure;
    const struct caught *caught = what_ifs->caught;
    struct held_block born;
    if (what_ifs->caught_count < caught->count && at->index == caught->ends[what_ifs->caught_count])
        end_call(what_ifs, at->history);
    if (at->index != what_ifs->moment)
        return 0;
    if (failure && failure->account != what_ifs->account)
        failure = NULL;
    if (failure && (!describe(what_ifs, &born, failure->event.stack_id, failure->path,
                              failure->event.size_bytes, false, at->err) ||
                    begin_block(what_ifs, FAILED_BLOCK, &born, at->err)))
        return -1;
    if (failure)
        look(what_ifs, at->history->accounts[what_ifs->account].live_bytes + born.size_bytes);
    return note_moment(what_ifs, at, failure);
}

struct observer what_ifs_observer(struct what_ifs *what_ifs)
{
    return (struct observer){.self = what_ifs, .on_change = on_change, .on_event = on_event};
}

void what_ifs_release(struct what_ifs *what_ifs)
{
    for (size_t i = 0; i < what_ifs->line_count; i++)
        calls_release(&what_ifs->lines[i]);
    stale_release(&what_ifs->stale);
    free(what_ifs->blocks);
    free(what_ifs->calls);
    free(what_ifs->traits);
    free(what_ifs->batch_bytes);
    what_ifs->blocks = NULL;
    what_ifs->calls = NULL;
    what_ifs->traits = NULL;
    what_ifs->batch_bytes = NULL;
}
