/* SPDX-License-Identifier: MIT */
/* How long blocks live; see lives.h. */
#include "lives.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/refused/failures.h"
#include "analyzer/util/array.h"

/* Of what a place allocates this share at most is kept, if its blocks are temporaries. */
enum { PASSING_SHARE = 8 };
/* So many blocks are a pile: fewer may be what one batch is made of. */
enum { FEWEST_OF_PILE = 8 };

/* --- births and ends --- */

static struct stock_lives *reach_stock(struct lives_watch *watch, const struct history *history,
                                       uint32_t stock, struct err *err)
{
    if (!watch->places.trace && places_init(&watch->places, history->trace, err))
        return NULL;
    struct stock_lives *grown = array_reach(watch->stocks, &watch->stock_capacity,
                                            &watch->stock_count, sizeof *grown, stock, err);
    if (!grown)
        return NULL;
    watch->stocks = grown;
    return &grown[stock];
}

static struct place_life *reach(struct lives *lives, struct places *places, uint32_t stack_id,
                                struct err *err)
{
    const uint32_t place = places_of(places, stack_id, err);
    if (place == PLACE_NONE)
        return NULL;
    struct place_life *items =
        array_reach(lives->items, &lives->capacity, &lives->count, sizeof *items, place, err);
    if (!items)
        return NULL;
    lives->items = items;
    return &items[place];
}

static void note_birth(struct lives *lives, struct place_life *life, uint64_t index, enum part part,
                       uint64_t size_bytes)
{
    const bool had_optimized = lives->rounds.has_optimized;
    const uint32_t round = lives->rounds.number;

    if (rounds_allocate(&lives->rounds, part))
        lives->round_index = index;
    lives->optimized_rounds_count +=
        lives->rounds.has_optimized && (!had_optimized || lives->rounds.number != round);
    lives->bytes_by_part[part] += size_bytes;
    if (!life->births_count++)
        life->first_round = lives->rounds.number;
    life->last_round = lives->rounds.number;
    if (++life->live_count > life->high_count)
        life->high_count = life->live_count;
}

static void note_end(struct place_life *life, const struct block *block)
{
    *(block->outlived ? &life->kept_bytes : &life->passed_bytes) += block->size_bytes;
    life->live_count--;
    if (life->high_count - life->live_count > life->fall_count)
        life->fall_count = life->high_count - life->live_count;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct lives_watch *watch = self;
    const struct block *block = change->block;
    const struct stock *stock = &at->history->stocks[block->stock];
    (void)spans;
    if (!stock_is_of_layer(stock))
        return 0;
    struct stock_lives *of_stock = reach_stock(watch, at->history, block->stock, at->err);
    if (!of_stock)
        return -1;
    watch->has_graphs |= block->is_of_graph;
    struct place_life *life = reach(&of_stock->now, &watch->places, block->stack_id, at->err);
    if (!life)
        return -1;
    if (!change->birth) {
        note_end(life, block);
        return 0;
    }
    note_birth(&of_stock->now, life, at->index, part_of_path(at->history, block->deciding_path),
               block->size_bytes);
    if (stock->peak.index == at->index)
        of_stock->peak_round_index = of_stock->now.round_index;
    return 0;
}

/* --- refusals --- */

static bool is_failure(const struct history *history, uint64_t index)
{
    for (size_t i = history->failure_count; i-- > 0;)
        if (history->failures[i].at.index == index)
            return true;
    return false;
}

static bool waits(const struct history *history, uint64_t index)
{
    for (size_t i = 0; i < history->waiting_count; i++)
        if (history->waiting[i].failure.at.index == index)
            return history->waiting[i].state != REFUSAL_IS_GONE;
    return false;
}

/* It is known of those that came first what they were: the last failure stays, and what waits. */
static void drop_copies(struct stock_lives *stock, const struct history *history)
{
    size_t kept = 0;
    for (size_t i = 0; i < stock->refused_count; i++) {
        const struct lives copy = stock->refused[i];
        const bool has_failed = is_failure(history, copy.index);
        while (has_failed && kept)
            free(stock->refused[--kept].items);
        if (has_failed || waits(history, copy.index))
            stock->refused[kept++] = copy;
        else
            free(copy.items);
    }
    stock->refused_count = kept;
}

static struct lives *add_copy(struct stock_lives *stock, const struct lives *lives, uint64_t index,
                              uint64_t peak_bytes, struct err *err)
{
    struct lives *grown = array_grow(stock->refused, &stock->refused_capacity, stock->refused_count,
                                     sizeof *grown, err);
    if (!grown)
        return NULL;
    stock->refused = grown;
    grown += stock->refused_count;
    *grown = *lives;
    grown->index = index;
    grown->peak_bytes = peak_bytes;
    grown->capacity = lives->count;
    grown->items = array_new(lives->count, sizeof *grown->items, err);
    if (!grown->items)
        return NULL;
    if (lives->count)
        memcpy(grown->items, lives->items, lives->count * sizeof *grown->items);
    stock->refused_count++;
    return grown;
}

/* NULL: the event was no refusal that may be the last failure. */
static const struct failure *find_refusal(const struct history *history, uint64_t index)
{
    const struct failure *last = NULL;
    if (history->waiting_count)
        last = &history->waiting[history->waiting_count - 1].failure;
    else if (history->failure_count)
        last = &history->failures[history->failure_count - 1];
    return last && last->at.index == index ? last : NULL;
}

/* When the driver refused, what the pools of the device held counts too. */
static bool concerns(const struct history *history, uint32_t stock, const struct failure *failure)
{
    const struct stock *failing = &history->stocks[failure->stock];
    return stock == failure->stock ||
           (failing->kind == ACCOUNT_device && history->stocks[stock].device == failing->device);
}

static int on_event(void *self, const struct cursor *at)
{
    struct lives_watch *watch = self;
    const struct history *history = at->history;
    if (at->event->result != RESULT_OUT_OF_MEMORY)
        return 0;
    const struct failure *refusal = find_refusal(history, at->index);
    for (uint32_t i = 0; refusal && i < watch->stock_count; i++) {
        struct stock_lives *stock = &watch->stocks[i];
        if (!concerns(history, i, refusal))
            continue;
        drop_copies(stock, history);
        if (!add_copy(stock, &stock->now, at->index, history->stocks[i].peak_bytes, at->err))
            return -1;
    }
    return 0;
}

/* --- the end --- */

/* What is live to the end was kept. */
static int on_end(void *self, const struct cursor *at)
{
    struct lives_watch *watch = self;
    for (uint32_t i = 0; i < at->history->block_slots.used; i++) {
        const struct block *block = &at->history->blocks[i];
        if (block->stock >= watch->stock_count ||
            !stock_is_of_layer(&at->history->stocks[block->stock]))
            continue;
        struct place_life *life =
            reach(&watch->stocks[block->stock].now, &watch->places, block->stack_id, at->err);
        if (!life)
            return -1;
        life->kept_bytes += block->size_bytes;
    }
    return 0;
}

struct observer lives_watch_observer(struct lives_watch *watch)
{
    return (struct observer){
        .self = watch, .on_change = on_change, .on_event = on_event, .on_end = on_end};
}

void lives_watch_release(struct lives_watch *watch)
{
    for (size_t i = 0; i < watch->stock_count; i++) {
        struct stock_lives *stock = &watch->stocks[i];
        for (size_t j = 0; j < stock->refused_count; j++)
            free(stock->refused[j].items);
        free(stock->refused);
        free(stock->now.items);
    }
    free(watch->stocks);
    places_release(&watch->places);
    *watch = (struct lives_watch){0};
}

/* --- what was known --- */

/* Empty if nothing of the stock was born before. */
static struct lives *copy_at(struct stock_lives *stock, uint64_t index, struct err *err)
{
    for (size_t i = 0; i < stock->refused_count; i++)
        if (stock->refused[i].index == index)
            return &stock->refused[i];
    return add_copy(stock, &(struct lives){0}, index, 0, err);
}

static int learn_ends(struct lives *then, const struct lives *now, struct err *err)
{
    for (size_t i = 0; i < now->count; i++) {
        struct place_life *items =
            array_reach(then->items, &then->capacity, &then->count, sizeof *items, i, err);
        if (!items)
            return -1;
        then->items = items;
        items[i].kept_bytes = now->items[i].kept_bytes;
        items[i].passed_bytes = now->items[i].passed_bytes;
    }
    return 0;
}

/* How it would have ended is not known; an optimizer's round counts if it was served. */
static int note_refused(struct lives *then, struct places *places, const struct history *history,
                        const struct failure *failure, struct err *err)
{
    const uint32_t optimized_rounds_count = then->optimized_rounds_count;
    struct place_life *life = reach(then, places, failure->event.stack_id, err);
    if (!life)
        return -1;
    note_birth(then, life, failure->at.index, part_of_path(history, failure->path),
               failure->event.size_bytes);
    life->live_count--;
    then->optimized_rounds_count = optimized_rounds_count;
    return 0;
}

const struct lives *lives_at(struct lives_watch *watch, const struct history *history,
                             uint32_t stock, const struct failure *failure, struct err *err)
{
    struct stock_lives *of_stock = reach_stock(watch, history, stock, err);
    if (!of_stock)
        return NULL;
    if (!failure) {
        of_stock->now.round_index = of_stock->peak_round_index;
        of_stock->now.peak_bytes = history->stocks[stock].peak_bytes;
        return &of_stock->now;
    }
    struct lives *then = copy_at(of_stock, failure->at.index, err);
    if (!then || learn_ends(then, &of_stock->now, err) ||
        (failure->stock == stock && note_refused(then, &watch->places, history, failure, err)))
        return NULL;
    return then;
}

struct place_life lives_of(const struct lives *lives, uint32_t place)
{
    return place < lives->count ? lives->items[place] : (struct place_life){0};
}

bool life_recurs(const struct place_life *life)
{
    return life->births_count && life->last_round > life->first_round;
}

bool life_piles_up(const struct place_life *life)
{
    return life->live_count >= FEWEST_OF_PILE && !life->fall_count;
}

bool life_passes(const struct place_life *life)
{
    return life->kept_bytes <= life->passed_bytes / PASSING_SHARE;
}
