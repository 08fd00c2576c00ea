/* SPDX-License-Identifier: MIT */
/* Measures how long blocks live; see lives.h. */
#include "lives.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/steps/growth_watch.h"
#include "analyzer/replay/refused/failures.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"

/* --- births and ends --- */

static struct account_lives *reach_account(struct lives_watch *watch, const struct history *history,
                                           uint32_t account, struct err *err)
{
    if (!watch->places.trace && places_init(&watch->places, history->trace, err))
        return NULL;
    if (ARRAY_REACH(watch->accounts, watch->account_capacity, watch->account_count, account, err))
        return NULL;
    return &watch->accounts[account];
}

static struct place_life *reach(struct lives *lives, struct places *places, uint32_t stack_id,
                                struct err *err)
{
    const uint32_t place = places_of(places, stack_id, err);
    if (place == PLACE_NONE)
        return NULL;
    if (ARRAY_REACH(lives->items, lives->capacity, lives->count, place, err))
        return NULL;
    return &lives->items[place];
}

/* Begins a run of the place's maker, unless the last block was of this maker. */
static void note_maker(struct lives *lives, const struct places *places,
                       const struct place_life *life, uint64_t index)
{
    const uint32_t maker = places->items[life - lives->items].maker;
    if (maker == lives->maker)
        return;
    lives->maker = maker;
    lives->items[maker].earlier_run_index = lives->items[maker].run_index;
    lives->items[maker].run_index = index;
}

/* An optimizer allocates. If forward did not allocate since backward, the data since then was made
 * for the optimizer's step and is of no batch, such as a flat copy of the gradients. */
static void note_step(struct lives *lives)
{
    for (size_t i = 0; i < lives->count; i++)
        if (lives->items[i].births_count &&
            lives->items[i].last_iteration == lives->iterations.number)
            lives->items[i].is_of_step = true;
}

static void note_birth(struct lives *lives, const struct places *places, struct place_life *life,
                       uint64_t index, const struct iteration_birth *birth, uint64_t size_bytes)
{
    const enum part part = birth->part;
    const bool had_optimized = lives->iterations.has_optimized;
    const uint32_t iteration = lives->iterations.number;
    if (iterations_allocate(&lives->iterations, birth)) {
        lives->iteration_index = index;
        lives->batch_bytes = 0;
        if (lives->most_forward_bytes < lives->forward_bytes)
            lives->most_forward_bytes = lives->forward_bytes;
        lives->forward_bytes = 0;
    }
    lives->optimized_iterations_count += lives->iterations.has_optimized &&
                                         (!had_optimized || lives->iterations.number != iteration);
    if (part == PART_OPTIMIZER && !had_optimized && iteration && !lives->iterations.has_forward)
        note_step(lives);
    if (part != PART_INIT && part != PART_OPTIMIZER) {
        lives->work_index = index;
        lives->work_after_peak = lives->work_after_peak ? lives->work_after_peak : index;
    }
    note_maker(lives, places, life, index);
    lives->bytes_by_part[part] += size_bytes;
    lives->batch_bytes += part == PART_DATA ? size_bytes : 0;
    lives->forward_bytes += part == PART_FORWARD ? size_bytes : 0;
    life->newest_index = index;
    if (!life->births_count++)
        life->first_iteration = lives->iterations.number;
    life->last_iteration = lives->iterations.number;
    rising_add(&life->rising, &(struct rising_request){.size_bytes = size_bytes,
                                                       .batch_bytes = lives->batch_bytes,
                                                       .is_beside = life->live_count > 0});
    if (++life->live_count > life->high_count)
        life->high_count = life->live_count;
}

static void note_end(struct place_life *life, const struct block *block)
{
    *(block->outlived ? &life->kept_bytes : &life->passed_bytes) += block->size_bytes;
    life->replaced_count += block->life.begin_index < life->newest_index;
    life->live_count--;
    if (life->high_count - life->live_count > life->fall_count)
        life->fall_count = life->high_count - life->live_count;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct lives_watch *watch = self;
    const struct block *block = change->block;
    const struct account *account = &at->history->accounts[block->account];
    if (!account_is_of_layer(account))
        return 0;
    struct account_lives *of_account = reach_account(watch, at->history, block->account, at->err);
    if (!of_account)
        return -1;
    watch->has_graphs |= block->is_of_graph;
    struct place_life *life =
        reach(&of_account->now, &watch->places, site_stack(block->site_id), at->err);
    if (!life)
        return -1;
    if (!change->birth) {
        note_end(life, block);
        return 0;
    }
    const struct iteration_birth birth = {.part = part_of_path(at->history, block->deciding_path),
                                          .backward = block->backward,
                                          .is_recorded =
                                              growth_is_recorded(watch->places.trace, block)};
    note_birth(&of_account->now, &watch->places, life, at->index, &birth, block->size_bytes);
    if (account->peak.index == at->index) {
        of_account->peak_iteration_index = of_account->now.iteration_index;
        of_account->now.work_before_peak = of_account->now.work_index;
        of_account->now.work_after_peak = 0;
    }
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

/* Drops copies. Earlier refusals are decided by now. Keeps the copies for the last failure and for
 * the refusals that are not decided yet; frees all other copies. */
static void drop_copies(struct account_lives *account, const struct history *history)
{
    size_t kept = 0;
    for (size_t i = 0; i < account->refused_count; i++) {
        const struct lives copy = account->refused[i];
        const bool has_failed = is_failure(history, copy.index);
        while (has_failed && kept)
            free(account->refused[--kept].items);
        if (has_failed || waits(history, copy.index))
            account->refused[kept++] = copy;
        else
            free(copy.items);
    }
    account->refused_count = kept;
}

static struct lives *add_copy(struct account_lives *account, const struct lives *lives,
                              uint64_t index, uint64_t peak_bytes, struct err *err)
{
    if (ARRAY_GROW(account->refused, account->refused_capacity, account->refused_count, err))
        return NULL;
    struct lives *added = &account->refused[account->refused_count];
    *added = *lives;
    added->index = index;
    added->peak_bytes = peak_bytes;
    added->capacity = lives->count;
    added->items = array_new(lives->count, sizeof *added->items, err);
    if (!added->items)
        return NULL;
    if (lives->count)
        memcpy(added->items, lives->items, lives->count * sizeof *added->items);
    account->refused_count++;
    return added;
}

/* Returns the failure that this event may turn out to be, or NULL if the event is no refusal. */
static const struct failure *find_refusal(const struct history *history, uint64_t index)
{
    const struct failure *last = NULL;
    if (history->waiting_count)
        last = &history->waiting[history->waiting_count - 1].failure;
    else if (history->failure_count)
        last = &history->failures[history->failure_count - 1];
    return last && last->at.index == index ? last : NULL;
}

/* A refusal by the driver concerns all accounts of the device, because
 * their pools hold its memory. */
static bool concerns(const struct history *history, uint32_t account, const struct failure *failure)
{
    const struct account *failing = &history->accounts[failure->account];
    return account == failure->account || (failing->kind == ACCOUNT_device &&
                                           history->accounts[account].device == failing->device);
}

static int on_event(void *self, const struct cursor *at)
{
    struct lives_watch *watch = self;
    const struct history *history = at->history;
    if (at->event->result != RESULT_OUT_OF_MEMORY)
        return 0;
    const struct failure *refusal = find_refusal(history, at->index);
    for (uint32_t i = 0; refusal && i < watch->account_count; i++) {
        struct account_lives *account = &watch->accounts[i];
        if (!concerns(history, i, refusal))
            continue;
        drop_copies(account, history);
        if (!add_copy(account, &account->now, at->index, history->accounts[i].peak_bytes, at->err))
            return -1;
    }
    return 0;
}

/* --- the end --- */

/* Counts the blocks that are still live at the end as kept. */
static int on_end(void *self, const struct cursor *at)
{
    struct lives_watch *watch = self;
    for (uint32_t i = 0; i < at->history->block_slots.used; i++) {
        const struct block *block = &at->history->blocks[i];
        if (block->account >= watch->account_count ||
            !account_is_of_layer(&at->history->accounts[block->account]))
            continue;
        struct place_life *life = reach(&watch->accounts[block->account].now, &watch->places,
                                        site_stack(block->site_id), at->err);
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
    for (size_t i = 0; i < watch->account_count; i++) {
        struct account_lives *account = &watch->accounts[i];
        for (size_t j = 0; j < account->refused_count; j++)
            free(account->refused[j].items);
        free(account->refused);
        free(account->now.items);
    }
    free(watch->accounts);
    places_release(&watch->places);
    *watch = (struct lives_watch){0};
}

/* --- the lives at the time of a failure --- */

/* Returns the copy made at a refusal. The copy is empty if the account had no block by that
 * time. */
static struct lives *copy_at(struct account_lives *account, uint64_t index, struct err *err)
{
    for (size_t i = 0; i < account->refused_count; i++)
        if (account->refused[i].index == index)
            return &account->refused[i];
    return add_copy(account, &(struct lives){0}, index, 0, err);
}

static int learn_ends(struct lives *then, const struct lives *now, struct err *err)
{
    for (size_t i = 0; i < now->count; i++) {
        if (ARRAY_REACH(then->items, then->capacity, then->count, i, err))
            return -1;
        then->items[i].kept_bytes = now->items[i].kept_bytes;
        then->items[i].passed_bytes = now->items[i].passed_bytes;
    }
    return 0;
}

/* Adds the refused request as a birth. Nobody knows how its block would have ended, so the block
 * does not count as live. Nor does the iteration count as optimized, because the request was not
 * served. */
static int note_refused(struct lives *then, struct places *places, const struct history *history,
                        const struct failure *failure, struct err *err)
{
    const uint32_t optimized_iterations_count = then->optimized_iterations_count;
    struct place_life *life = reach(then, places, failure->event.stack_id, err);
    if (!life)
        return -1;
    const struct iteration_birth birth = {.part = part_of_path(history, failure->path)};
    note_birth(then, places, life, failure->at.index, &birth, failure->event.size_bytes);
    life->live_count--;
    then->optimized_iterations_count = optimized_iterations_count;
    return 0;
}

const struct lives *lives_at(struct lives_watch *watch, const struct history *history,
                             uint32_t account, const struct failure *failure, struct err *err)
{
    struct account_lives *of_account = reach_account(watch, history, account, err);
    if (!of_account)
        return NULL;
    if (!failure) {
        of_account->now.iteration_index = of_account->peak_iteration_index;
        of_account->now.peak_bytes = history->accounts[account].peak_bytes;
        return &of_account->now;
    }
    struct lives *then = copy_at(of_account, failure->at.index, err);
    if (!then || learn_ends(then, &of_account->now, err) ||
        (failure->account == account && note_refused(then, &watch->places, history, failure, err)))
        return NULL;
    return then;
}

struct place_life lives_of(const struct lives *lives, uint32_t place)
{
    return place < lives->count ? lives->items[place] : (struct place_life){0};
}

bool life_recurs(const struct place_life *life)
{
    return life->births_count && life->last_iteration > life->first_iteration && !life->is_of_step;
}

bool life_piles_up(const struct place_life *life)
{
    return life->live_count >= PILED_BLOCKS_FEWEST && !life->fall_count;
}

bool life_replaces(const struct place_life *life)
{
    return life->replaced_count && life->high_count == 2 && life->fall_count == 1 &&
           life->births_count - life->replaced_count == 2;
}

bool life_passes(const struct place_life *life)
{
    return life->kept_bytes <= life->passed_bytes / PASSING_DIVISOR;
}
