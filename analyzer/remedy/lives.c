/* SPDX-License-Identifier: MIT */
/* How long blocks live; see lives.h. */
#include "lives.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* Of what a place allocates this share at most is kept, if its blocks are temporaries. */
enum { PASSING_SHARE = 8 };

static struct place_life *reach(struct lives *lives, uint32_t stack_id, struct err *err)
{
    const uint32_t place = places_of(lives->places, stack_id, err);
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

    if (rounds_allocate(&lives->rounds, part) && index <= lives->moment)
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

/* How a block ends while a failure unwinds the program tells as much as any other end. */
static void note_end(struct place_life *life, const struct block *block, bool counts)
{
    *(block->outlived ? &life->kept_bytes : &life->passed_bytes) += block->size_bytes;
    if (!counts)
        return;
    life->live_count--;
    if (life->high_count - life->live_count > life->fall_count)
        life->fall_count = life->high_count - life->live_count;
}

static bool counts(const struct lives *lives, const struct cursor *at)
{
    return !lives->failure || at->index <= lives->moment;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct lives *lives = self;
    const struct block *block = change->block;
    (void)spans;
    if (block->stock != lives->stock)
        return 0;
    struct place_life *life = reach(lives, block->stack_id, at->err);
    if (!life)
        return -1;
    if (!change->birth) {
        note_end(life, block, counts(lives, at));
        return 0;
    }
    if (!counts(lives, at))
        return 0;
    note_birth(lives, life, at->index, part_of_path(at->history, block->deciding_path),
               block->size_bytes);
    return 0;
}

/* What was refused would have been born; how it would have ended is not known. */
static int on_event(void *self, const struct cursor *at)
{
    struct lives *lives = self;
    const struct failure *failure = lives->failure;
    if (at->index != lives->moment || !failure || failure->stock != lives->stock)
        return 0;
    const uint32_t optimized_rounds_count = lives->optimized_rounds_count;
    struct place_life *life = reach(lives, failure->event.stack_id, at->err);
    if (!life)
        return -1;
    note_birth(lives, life, at->index, part_of_path(at->history, failure->path),
               failure->event.size_bytes);
    life->live_count--;
    lives->optimized_rounds_count = optimized_rounds_count; /* by allocations that were served */
    return 0;
}

/* What is live to the end was kept. */
static int on_end(void *self, const struct cursor *at)
{
    struct lives *lives = self;
    for (uint32_t i = 0; i < at->history->block_slots.used; i++) {
        const struct block *block = &at->history->blocks[i];
        if (block->stock != lives->stock)
            continue;
        struct place_life *life = reach(lives, block->stack_id, at->err);
        if (!life)
            return -1;
        life->kept_bytes += block->size_bytes;
    }
    return 0;
}

struct observer lives_observer(struct lives *lives)
{
    return (struct observer){
        .self = lives, .on_change = on_change, .on_event = on_event, .on_end = on_end};
}

void lives_release(struct lives *lives)
{
    free(lives->items);
    lives->items = NULL;
    lives->count = lives->capacity = 0;
}

struct place_life lives_of(const struct lives *lives, uint32_t place)
{
    return place < lives->count ? lives->items[place] : (struct place_life){0};
}

bool life_recurs(const struct place_life *life)
{
    return life->births_count && life->last_round > life->first_round;
}

bool life_passes(const struct place_life *life)
{
    return life->kept_bytes <= life->passed_bytes / PASSING_SHARE;
}
