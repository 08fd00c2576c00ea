/* SPDX-License-Identifier: MIT */
/* Bytes at the ends of steps; see growth_watch.h. */
#include "growth_watch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/array.h"

/* --- one site --- */

/* Called at the second change: makes the trends and adds the values so far. */
static int catch_up(struct site_ends *site, struct err *err)
{
    site->trend.samples = array_new(2 * TREND_SAMPLES, sizeof *site->trend.samples, err);
    if (!site->trend.samples)
        return -1;
    site->counts.samples = site->trend.samples + TREND_SAMPLES;
    trend_add(&site->trend, 0, site->changed_at, site->first_bytes);
    trend_add(&site->trend, site->changed_at, site->ends_count, site->last_bytes);
    trend_add(&site->counts, 0, site->changed_at, site->first_count);
    trend_add(&site->counts, site->changed_at, site->ends_count, site->last_count);
    return 0;
}

/* Notes that the values differ from those at the last end. */
static int note_change(struct site_ends *site, struct err *err)
{
    const uint64_t bytes = site->live_bytes;
    if (!site->changed_at)
        site->changed_at = site->ends_count;
    else if (!site->trend.samples && catch_up(site, err))
        return -1;
    site->changes_count += bytes != site->last_bytes;
    if (bytes > site->last_bytes) {
        occurrences_add(&site->rises, site->ends_count);
        site->risen_bytes += bytes - site->last_bytes;
    }
    site->falls_count += bytes < site->last_bytes;
    site->last_bytes = bytes;
    site->last_count = site->live_count;
    return 0;
}

/* Counts the current values for all ends before `until` that were not counted yet. */
static int look_at_ends(struct site_ends *site, uint64_t until, struct err *err)
{
    if (until <= site->ends_count)
        return 0;
    if (site->open_churn_count) {
        site->churn_bytes += site->open_churn_bytes;
        site->churn_count += site->open_churn_count;
        site->open_churn_bytes = site->open_churn_count = 0;
    }
    if (!site->ends_count) {
        site->first_bytes = site->last_bytes = site->live_bytes;
        site->first_count = site->last_count = site->live_count;
        site->first_rest_bytes = site->live_rest_bytes;
    }
    site->last_rest_bytes = site->live_rest_bytes;
    sweeps_end(&site->sweeps, site->ends_count, site->live_bytes < site->last_bytes);
    turnover_end(&site->turnover, site->ends_count,
                 &(struct turnover_level){site->live_bytes, site->live_count},
                 &(struct turnover_level){site->last_bytes, site->last_count});
    if ((site->live_bytes != site->last_bytes || site->live_count != site->last_count) &&
        note_change(site, err))
        return -1;
    if (site->trend.samples)
        trend_add(&site->trend, site->ends_count, until, site->live_bytes);
    if (site->counts.samples)
        trend_add(&site->counts, site->ends_count, until, site->live_count);
    site->ends_count = until;
    return 0;
}

/* --- accounts --- */

static struct site_ends *find_site(struct account_ends *own, uint64_t site_id, struct err *err)
{
    const uint32_t number = site_numbers_get(&own->numbers, site_id);
    if (number != PAIR_MAP_NONE)
        return &own->sites[number];
    if (ARRAY_GROW(own->sites, own->capacity, own->count, err) ||
        site_numbers_put(&own->numbers, site_id, (uint32_t)own->count, err))
        return NULL;
    own->sites[own->count] = (struct site_ends){.site_id = site_id};
    return &own->sites[own->count++];
}

static struct account_ends *find_account(struct growth_watch *watch, const struct cursor *at,
                                         uint32_t account)
{
    if (ARRAY_REACH(watch->accounts, watch->account_capacity, watch->account_count, account,
                    at->err))
        return NULL;
    struct account_ends *own = &watch->accounts[account];
    if (own->is_used)
        return own;
    own->is_pool = at->history->accounts[account].kind == ACCOUNT_pool;
    own->is_beside = !account_is_of_layer(&at->history->accounts[account]);
    watch->has_pool |= own->is_pool;
    own->total.trend.samples = array_new(TREND_SAMPLES, sizeof *own->total.trend.samples, at->err);
    own->is_used = own->total.trend.samples;
    return own->is_used ? own : NULL;
}

/* Drops everything counted at ends so far; keeps what is live. */
static void forget_ends(struct account_ends *own)
{
    for (size_t i = 0; i < own->count; i++) {
        struct site_ends *site = &own->sites[i];
        free(site->trend.samples);
        *site = (struct site_ends){.site_id = site->site_id,
                                   .live_bytes = site->live_bytes,
                                   .live_count = site->live_count,
                                   .live_rest_bytes = site->live_rest_bytes,
                                   .was_resized = site->was_resized,
                                   .is_of_graph = site->is_of_graph,
                                   .blocks = site->blocks};
    }
    own->total = (struct site_ends){.live_bytes = own->total.live_bytes,
                                    .live_rest_bytes = own->total.live_rest_bytes,
                                    .trend.samples = own->total.trend.samples};
}

/* --- changes --- */

/* The step in which a block was made that is freed now. */
static uint64_t step_of(const struct growth_watch *watch, uint64_t begin_index)
{
    const uint64_t now = watch->step_number;
    const uint64_t oldest = now < STEP_BEGINS ? 0 : now - STEP_BEGINS + 1;
    uint64_t step = now;
    while (step > oldest && begin_index < watch->step_begins[step % STEP_BEGINS])
        step--;
    return step;
}

static void note_free(const struct growth_watch *watch, const struct account_ends *own,
                      struct site_ends *site, const struct block *block, uint64_t index)
{
    const struct swept freed = {.moment = own->births_count,
                                .live_bytes = site->live_bytes,
                                .size_bytes = block->size_bytes,
                                .step = step_of(watch, block->life.begin_index),
                                .place = own->last_born};
    sweeps_free(&site->sweeps, &freed);
    if (freed.step == watch->step_number) {
        site->open_churn_bytes += block->size_bytes;
        site->open_churn_count++;
        return;
    }
    turnover_free(&site->turnover,
                  &(struct turnover_free){.index = index,
                                          .begin_index = block->life.begin_index,
                                          .size_bytes = block->size_bytes,
                                          .live = {site->live_bytes, site->live_count}});
}

/* Counts the bytes from before the change for all past ends, and changes them. */
static int change_at_ends(const struct growth_watch *watch, struct account_ends *own,
                          struct site_ends *site, const struct change *change,
                          const struct cursor *at)
{
    if (look_at_ends(&own->total, watch->looked_count, at->err) ||
        look_at_ends(site, watch->looked_count, at->err))
        return -1;
    if (change->birth)
        turnover_birth(&site->turnover);
    else if (!change->is_resize)
        note_free(watch, own, site, change->block, at->index);
    return 0;
}

static struct birth_pair *find_pair(struct account_ends *own, uint32_t from, uint32_t to,
                                    struct err *err)
{
    const uint32_t number = pair_map_get(&own->pair_numbers, from, to);
    if (number != PAIR_MAP_NONE)
        return &own->pairs[number];
    if (ARRAY_GROW(own->pairs, own->pair_capacity, own->pair_count, err))
        return NULL;
    if (pair_map_put(&own->pair_numbers, from, to, (uint32_t)own->pair_count, err))
        return NULL;
    own->pairs[own->pair_count] = (struct birth_pair){.from = from, .to = to};
    return &own->pairs[own->pair_count++];
}

/* Counts that `site` allocates after the site of the last birth. The last follow of each site is
 * kept, because most sites are always followed by the same one. */
static int count_pair(struct account_ends *own, const struct site_ends *site, struct err *err)
{
    const uint32_t to = (uint32_t)(site - own->sites), from = own->last_born - 1;
    if (!own->last_born || own->has_too_many_pairs)
        return 0;
    uint32_t *last = &own->sites[from].pair;
    if (!*last || own->pairs[*last - 1].to != to) {
        const struct birth_pair *found = find_pair(own, from, to, err);
        if (!found)
            return -1;
        *last = (uint32_t)(found - own->pairs) + 1;
        own->has_too_many_pairs = own->pair_count > BIRTH_PAIRS_MAX;
    }
    own->pairs[*last - 1].count++;
    return 0;
}

static void count_birth(struct site_ends *site, uint64_t number)
{
    site->turns_count += site->has_freed;
    site->has_freed = false;
    site->last_birth = number;
    if (site->blocks.births_count == 1)
        site->first_birth = number;
    ebb_birth(&site->ebb, site->live_count);
}

static void count_tick(struct growth_watch *watch, uint64_t index)
{
    if (!watch->tick_count || watch->tick_event != index)
        watch->tick_count++;
    watch->tick_event = index;
}

/* Counts the order of births, as long as no step has ended. */
static int change_in_order(struct account_ends *own, struct site_ends *site,
                           const struct change *change, struct err *err)
{
    site->has_freed |= !change->birth;
    if (!change->birth)
        return 0;
    count_birth(site, own->births_count);
    return count_pair(own, site, err);
}

static void note_born(struct account_ends *own, const struct site_ends *site,
                      const struct block *block)
{
    own->births_count++;
    own->last_born = (uint32_t)(site - own->sites) + 1;
    own->last_birth_index = block->life.begin_index;
}

bool growth_is_recorded(const struct trace *trace, const struct block *block)
{
    return block->is_of_graph && block->backward &&
           !trace_python_frame(trace, site_stack(block->site_id));
}

static void note_birth(struct growth_watch *watch, struct site_blocks *blocks,
                       const struct block *block, uint64_t rest_bytes, const struct trace *trace)
{
    const bool is_of_backward = block->backward || site_forward_stack(block->site_id);
    const uint64_t backwards = watch->backward_count;
    if (growth_is_recorded(trace, block))
        watch->recorded_backward = block->backward;
    if (!blocks->births_count)
        blocks->begin_index = block->life.begin_index;
    blocks->born_bytes += block->size_bytes;
    blocks->fresh_births_count += blocks->births_count++ && backwards != blocks->backwards_seen;
    rising_add(&blocks->sizes,
               &(struct rising_request){.size_bytes = block->size_bytes - rest_bytes});
    blocks->graph_births_count += block->is_of_graph;
    blocks->backward_births_count += is_of_backward;
    blocks->recorded_births_count += block->backward && block->backward == watch->recorded_backward;
    blocks->backwards_seen = backwards;
    if (blocks->births_count - blocks->frees_count > blocks->most_live_count)
        blocks->most_live_count = blocks->births_count - blocks->frees_count;
}

/* Counts the order of births in all accounts together. */
static int change_together(struct growth_watch *watch, const struct account_ends *own,
                           const struct change *change, const struct cursor *at)
{
    struct account_ends *all = &watch->together;
    const struct block *block = change->block;
    if (!all->count && own->is_beside && change->birth)
        watch->together_begin = block->life.begin_index;
    else if (!all->count)
        return 0;
    if (watch->has_pool || block->life.begin_index < watch->together_begin)
        return 0;
    struct site_ends *site = find_site(all, block->site_id, at->err);
    if (!site)
        return -1;
    if (change->birth)
        note_birth(watch, &site->blocks, block, 0, at->history->trace);
    else
        site->blocks.frees_count++;
    if (change_in_order(all, site, change, at->err))
        return -1;
    if (change->birth)
        note_born(all, site, block);
    return 0;
}

/* Counts the block for its site, and its forward operator's site as one that a backward went
 * through. */
static int note_block(struct growth_watch *watch, struct account_ends *own, struct site_ends **site,
                      const struct change *change, uint64_t rest_bytes, const struct cursor *at)
{
    const struct block *block = change->block;
    if (change->birth && site_forward_stack(block->site_id)) {
        struct site_ends *forward = find_site(own, site_forward_stack(block->site_id), at->err);
        if (!forward)
            return -1;
        forward->blocks.went_back = true;
    }
    *site = find_site(own, block->site_id, at->err);
    if (!*site)
        return -1;
    if (change->birth)
        note_birth(watch, &(*site)->blocks, block, rest_bytes, at->history->trace);
    else
        (*site)->blocks.frees_count++;
    return 0;
}

static void note_most(struct site_blocks *blocks, uint64_t live_bytes, uint64_t index)
{
    if (live_bytes > blocks->most_live_bytes) {
        blocks->most_live_bytes = live_bytes;
        blocks->fell_index = 0;
    } else if (!blocks->fell_index &&
               live_bytes < blocks->most_live_bytes - blocks->most_live_bytes / 10)
        blocks->fell_index = index;
}

/* --- ends of steps --- */

static void end_step(struct growth_watch *watch, const struct cursor *at, enum step_end kind)
{
    if (kind == STEP_ENDS)
        return;
    for (size_t i = 0; i < watch->account_count; i++) {
        watch->accounts[i].end_live_bytes = watch->accounts[i].total.live_bytes;
        watch->accounts[i].birth_live_bytes = 0;
    }
    const uint64_t count = step_ends_whole_count(watch->ends, kind);
    const bool is_first = step_ends_began(watch->ends, kind);
    for (size_t i = 0; i < watch->account_count && is_first; i++)
        forget_ends(&watch->accounts[i]);
    watch->step_number = is_first ? 0 : watch->step_number;
    watch->has_ended = true;
    watch->looked_count = count > WARM_UP_ENDS ? count - WARM_UP_ENDS : 0;
    watch->step_number++;
    watch->step_begins[watch->step_number % STEP_BEGINS] = at->index;
}

/* --- the observer --- */

static void add_live(struct account_ends *own, const struct change *change, uint64_t rest_bytes)
{
    const uint64_t size_bytes = change->block->size_bytes;
    own->total.live_bytes += change->birth ? size_bytes : -size_bytes;
    own->total.live_rest_bytes += change->birth ? rest_bytes : -rest_bytes;
    if (own->total.live_bytes > own->most_bytes)
        own->most_bytes = own->total.live_bytes;
    if (change->birth)
        own->birth_live_bytes = own->total.live_bytes;
}

/* A block that was made earlier counts only for the account as a whole. */
static int change_before(const struct growth_watch *watch, struct account_ends *own,
                         const struct change *change, uint64_t rest_bytes, struct err *err)
{
    if (watch->looked_count && look_at_ends(&own->total, watch->looked_count, err))
        return -1;
    add_live(own, change, rest_bytes);
    return 0;
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct growth_watch *watch = self;
    const struct block *block = change->block;
    if (!account_may_leak(&at->history->accounts[block->account]))
        return 0;
    struct account_ends *own = find_account(watch, at, block->account);
    struct site_ends *site;
    uint64_t rest_bytes;
    if (!own || rests_change(&watch->rests, change, &rest_bytes, at->err))
        return -1;
    if (block->life.begin_index < watch->since_index)
        return change_before(watch, own, change, rest_bytes, at->err);
    if (note_block(watch, own, &site, change, rest_bytes, at))
        return -1;
    GMT_PREFETCH(&site->churn_bytes); /* the last fields that a change touches */
    end_step(watch, at, step_ends_of_change(watch->ends));
    count_tick(watch, at->index);
    if ((watch->looked_count && change_at_ends(watch, own, site, change, at)) ||
        (!watch->has_ended &&
         (change_in_order(own, site, change, at->err) || change_together(watch, own, change, at))))
        return -1;
    if (change->birth)
        note_born(own, site, block);
    const uint64_t more_bytes = change->birth ? block->size_bytes : -block->size_bytes;
    site->live_bytes += more_bytes;
    site->live_rest_bytes += change->birth ? rest_bytes : -rest_bytes;
    note_most(&site->blocks, site->live_bytes, at->index);
    site->live_count += change->birth ? 1 : UINT64_MAX;
    site->was_resized |= change->is_resize;
    site->is_of_graph |= block->is_of_graph;
    watch->has_graphs |= block->is_of_graph;
    add_live(own, change, rest_bytes);
    return 0;
}

static int on_span(void *self, const struct cursor *at, uint32_t span, bool begins)
{
    struct growth_watch *watch = self;
    const char *name = at->history->paths[at->spans->items[span].path].name;
    if (watch->since_index)
        return 0;
    watch->backward_count += begins && !strncasecmp(name, "backward", strlen("backward"));
    if (begins)
        return watch->has_ended
                   ? 0
                   : phase_periods_begin(&watch->phases, span, watch->tick_count, at->err);
    if (!watch->has_ended)
        phase_periods_end(&watch->phases, at, span, watch->tick_count);
    end_step(watch, at, step_ends_of_span(watch->ends));
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    end_step(watch, at, step_ends_of_event(watch->ends, at));
    if (at->event->kind == EVENT_POOL_ASKED)
        rests_note(&watch->rests, at->event);
    return 0;
}

/* Counts the values of a site for all remaining ends. */
static int finish_site(struct site_ends *site, uint64_t ends_count, struct err *err)
{
    if (look_at_ends(site, ends_count, err))
        return -1;
    trend_close(&site->trend);
    trend_close(&site->counts);
    return 0;
}

static int finish_account(struct account_ends *own, uint64_t ends_count, struct err *err)
{
    for (size_t i = 0; i < own->count; i++)
        if (finish_site(&own->sites[i], ends_count, err))
            return -1;
    return finish_site(&own->total, ends_count, err);
}

static int on_end(void *self, const struct cursor *at)
{
    struct growth_watch *watch = self;
    watch->trace = at->history->trace;
    const uint64_t ends_count = watch->looked_count;
    for (size_t i = 0; i < watch->account_count; i++)
        if (watch->accounts[i].is_used && finish_account(&watch->accounts[i], ends_count, at->err))
            return -1;
    return 0;
}

struct observer growth_watch_observer(struct growth_watch *watch)
{
    return (struct observer){.self = watch,
                             .on_change = on_change,
                             .on_span = on_span,
                             .on_event = on_event,
                             .kinds =
                                 step_ends_kinds(watch->ends) | OBSERVER_KIND(EVENT_POOL_ASKED),
                             .on_end = on_end};
}

static void account_ends_release(struct account_ends *own)
{
    forget_ends(own);
    free(own->total.trend.samples);
    free(own->sites);
    site_numbers_release(&own->numbers);
    free(own->pairs);
    pair_map_release(&own->pair_numbers);
}

void growth_watch_release(struct growth_watch *watch)
{
    for (size_t i = 0; i < watch->account_count; i++)
        account_ends_release(&watch->accounts[i]);
    account_ends_release(&watch->together);
    free(watch->accounts);
    phase_periods_release(&watch->phases);
    rests_release(&watch->rests);
    *watch = (struct growth_watch){0};
}
