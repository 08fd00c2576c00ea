/* SPDX-License-Identifier: MIT */
/* The leak of one account; see leaks.h. */
#include "leaks.h"

#include <stdlib.h>

#include "analyzer/analysis/steps/cache_names.h"
#include "analyzer/util/array.h"
#include "analyzer/thresholds/thresholds.h"

static const struct trace_device *find_card(const struct trace *trace, int number)
{
    for (size_t i = trace->device_count; i-- > 0;)
        if (trace->devices[i].device == number && trace->devices[i].total_bytes)
            return &trace->devices[i];
    return NULL;
}

static bool has_failed(const struct history *history, const struct account *account)
{
    return history->failures_of_device[DEVICE_SLOT(account->device)];
}

/* Assumes that each step raises the peak by peak_slope. That does not hold if each block is larger
 * than the one before. A card that refused memory was full already. */
static void find_steps_left(struct account_leak *found, const struct history *history,
                            const struct account *account, const struct trace_device *card)
{
    const bool gets_larger = found->leak.larger_slope * 2 > found->leak.slope;
    const uint64_t context_bytes = card && card->context_known ? card->context_bytes : 0;
    const uint64_t used_bytes = account->peak_bytes + context_bytes;
    found->knows_steps_left = card && !has_failed(history, account) && !gets_larger &&
                              found->leak.peak_slope > 0 && used_bytes <= card->total_bytes;
    if (found->knows_steps_left)
        found->steps_left = (double)(card->total_bytes - used_bytes) / found->leak.peak_slope;
}

/* Marks the call stacks whose driver memory was a segment of a framework's pool, even if the pool
 * gave it back. *stacks is NULL if there are none. */
static int find_segment_stacks(bool **stacks, const struct study *study, struct err *err)
{
    const struct history *history = &study->history;
    bool *found = array_new(study->trace.frame_limit + 1, sizeof *found, err);
    bool has_any = false;
    if (!found)
        return -1;
    for (uint32_t id = 0; id < history->stack_count && id <= study->trace.frame_limit; id++) {
        found[id] = history->stacks[id].uses & STACK_HAS_SEGMENT;
        has_any |= found[id];
    }
    if (!has_any)
        free(found);
    *stacks = has_any ? found : NULL;
    return 0;
}

/* --- rows --- */

/* Finds the lines to blame for the sites that grow or churn. The account's other sites are also
 * passed to the blame, because they show which lines are shared helpers. A site without births is
 * an operator that a backward went through, which allocated elsewhere. */
static int blame_all(struct account_leak *found, const struct study *study,
                     const struct growth_watch *watch, uint32_t account, struct err *err)
{
    enum { BESIDE_MAX = 1000 };
    const struct growth *growth = &found->growth;
    const struct account_ends *own =
        account < watch->account_count ? &watch->accounts[account] : NULL;
    const size_t beside = !own ? 0 : own->count < BESIDE_MAX ? own->count : BESIDE_MAX;
    uint64_t *sites =
        array_new(growth->count + growth->churn_count + 7 + beside, sizeof *sites, err);
    size_t count = 0;

    if (!sites)
        return -1;
    for (size_t i = 0; i < growth->count; i++)
        sites[count++] = growth->items[i].site_id;
    for (size_t i = 0; i < growth->churn_count; i++)
        sites[count++] = growth->churn[i].site_id;
    for (size_t i = 0; i < growth->kept.count; i++)
        sites[count++] = growth->kept.site_ids[i];
    for (size_t i = 0; i < growth->after.count; i++)
        sites[count++] = growth->after.site_ids[i];
    const uint64_t others[] = {growth->dropped_site_id, growth->filled.site_id,
                               growth->lost.site_id};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i])
            sites[count++] = others[i];
    const size_t said = count;
    for (size_t i = 0; i < beside; i++)
        if (own->sites[i].blocks.births_count)
            sites[count++] = own->sites[i].site_id;
    const int status = blame_first(&found->blame, study->symbols, sites, count, said, count, err);
    free(sites);
    return status;
}

/* Allocates rows for all stacks. Also allocates an array that gives the row number of each label,
 * from 1; 0: the label has no row yet. */
static int begin_rows(struct leak_rows *rows, uint32_t **numbers, const struct blame *blame,
                      size_t stack_count, struct err *err)
{
    rows->items = array_new(stack_count, sizeof *rows->items, err);
    *numbers = array_new(blame->count, sizeof **numbers, err);
    return rows->items && *numbers ? 0 : -1;
}

/* Returns the row of a stack. Adds the row if its label is new. */
static struct leak_row *reach_row(struct leak_rows *rows, uint32_t *numbers,
                                  const struct blamed *blamed)
{
    if (!numbers[blamed->row]) {
        rows->items[rows->count] = (struct leak_row){.blamed = blamed};
        numbers[blamed->row] = (uint32_t)++rows->count;
    }
    struct leak_row *row = &rows->items[numbers[blamed->row] - 1];
    row->stack_count++;
    return row;
}

ORDER_BY(compare_slopes, struct leak_row, FALLING(slope), RISING(blamed->row));

ORDER_BY(compare_churns, struct leak_row, FALLING(churn_bytes), RISING(blamed->row));

/* A program may free all that had grown before it ends. */
static bool is_gone(const struct growth *growth)
{
    uint64_t last_bytes = 0, end_bytes = 0;
    for (size_t i = 0; i < growth->count; i++) {
        last_bytes += growth->items[i].last_bytes;
        end_bytes += growth->items[i].end_bytes;
    }
    return end_bytes < last_bytes / 2;
}

static int find_growing_rows(struct account_leak *found, struct symbols *symbols,
                             const bool *left_out, struct err *err)
{
    const struct growth *growth = &found->growth;
    uint32_t *numbers = NULL;
    int status = begin_rows(&found->growing, &numbers, &found->blame, growth->count, err);
    for (size_t i = 0; i < growth->count && !status; i++) {
        const struct growing *site = &growth->items[i];
        const uint32_t stack_id = site_stack(site->site_id);
        struct leak_row *row =
            reach_row(&found->growing, numbers, blame_of(&found->blame, site->site_id));

        if (row->stack_count == 1)
            status = cache_name_find(&row->cache, symbols, stack_id, err);
        if (row->stack_count == 1) {
            row->first = site;
            row->is_saw = site->is_saw;
            row->is_of_graph = site->blocks->graph_births_count * 2 > site->blocks->births_count;
        }
        row->is_enlarged = (row->stack_count == 1 || row->is_enlarged) && site->enlarged_count;
        row->is_left_out |= left_out && left_out[stack_id];
        row->slope += site->line.slope;
        row->low += site->line.low;
        row->high += site->line.high;
        row->rise_bytes += site->rise_bytes;
        row->first_bytes += site->first_bytes;
        row->last_bytes += site->last_bytes;
        row->end_bytes += site->end_bytes;
        if (site->rises->count > row->rises_count)
            row->rises_count = site->rises->count;
    }
    SORT(found->growing.items, found->growing.count, compare_slopes);
    free(numbers);
    return status;
}

static bool is_freed(const struct leak_row *row)
{
    return row->end_bytes < row->last_bytes / 2;
}

static bool is_alike(const struct leak_row *row, const struct leak_row *steepest)
{
    const uint64_t most =
        row->rises_count > steepest->rises_count ? row->rises_count : steepest->rises_count;
    const uint64_t least = row->rises_count + steepest->rises_count - most;
    return row->is_saw == steepest->is_saw && is_freed(row) == is_freed(steepest) &&
           most - least <= most / RISES_ALIKE_DIVISOR + 1;
}

/* Marks the rows with the same cause as the steepest row that leaks, else the steepest saw. */
static void find_cause(struct account_leak *found)
{
    const struct leak_row *steepest = NULL;
    for (int saws = 0; saws < 2 && !steepest; saws++)
        for (size_t i = 0; i < found->growing.count && !steepest; i++) {
            const struct leak_row *row = &found->growing.items[i];
            if (!row->cache && !row->is_left_out && !row->is_enlarged && row->is_saw == saws)
                steepest = row;
        }
    const uint64_t rise_steps = steepest ? occurrences_usual(steepest->first->rises) : 0;
    found->rise_steps = rise_steps ? rise_steps : 1;
    for (size_t i = 0; i < found->growing.count && steepest; i++) {
        struct leak_row *row = &found->growing.items[i];
        row->is_of_cause =
            !row->cache && !row->is_left_out && !row->is_enlarged && is_alike(row, steepest);
    }
}

static int find_churn_rows(struct account_leak *found, struct err *err)
{
    const struct growth *growth = &found->growth;
    uint32_t *numbers = NULL;
    const int status = begin_rows(&found->churn, &numbers, &found->blame, growth->churn_count, err);
    for (size_t i = 0; i < growth->churn_count && !status; i++) {
        struct leak_row *row =
            reach_row(&found->churn, numbers, blame_of(&found->blame, growth->churn[i].site_id));

        row->churn_bytes += growth->churn[i].bytes;
        row->churn_count += growth->churn[i].count;
    }
    SORT(found->churn.items, found->churn.count, compare_churns);
    free(numbers);
    return status;
}

/* --- the entry --- */

/* A leak beside the card's memory must be visible beside the peak of the card as well. */
static uint64_t peak_to_judge_by(const struct history *history, const struct account *own)
{
    const uint64_t driver_bytes = history->accounts[own->driver].peak_bytes;
    return account_is_of_layer(own) || own->peak_bytes > driver_bytes ? own->peak_bytes
                                                                      : driver_bytes;
}

static int find_watched(struct account_leak *found, const struct study *study,
                        const struct growth_watch *watch, uint32_t account, struct err *err)
{
    const struct account *own = &study->history.accounts[account];
    /* The card does not limit managed memory, nor pinned memory of the host. */
    const struct trace_device *card =
        account_is_of_layer(own) ? find_card(&study->trace, own->device) : NULL;
    bool *left_out = NULL;
    int status = -1;

    *found = (struct account_leak){0};
    if (growth_find(&found->growth, watch, account, err))
        goto out;
    if (has_failed(&study->history, own)) /* it did not come to free them */
        found->growth.after = (struct kept){0};
    if (blame_all(found, study, watch, account, err))
        goto out;
    if (own->kind == ACCOUNT_device && find_segment_stacks(&left_out, study, err))
        goto out;
    const struct leak_room room = {.bytes = card ? card->total_bytes : own->peak_bytes,
                                   .peak_bytes = peak_to_judge_by(&study->history, own),
                                   .left_out = left_out};
    if (leak_find(&found->leak, &found->growth, study->symbols, &room, err) ||
        find_growing_rows(found, study->symbols, left_out, err) || find_churn_rows(found, err))
        goto out;
    found->is_gone = is_gone(&found->growth);
    find_cause(found);
    find_steps_left(found, &study->history, own, card);
    status = 0;
out:
    free(left_out);
    if (status)
        account_leak_release(found);
    return status;
}

uint64_t account_leak_bytes(const struct account_leak *found)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < found->growing.count; i++)
        if (found->growing.items[i].is_of_cause)
            bytes += found->growing.items[i].last_bytes;
    return bytes;
}

int account_leak_find(struct account_leak *found, const struct study *study, uint32_t account,
                      struct err *err)
{
    struct account_leak afterwards;
    if (find_watched(found, study, &study->growth, account, err))
        return -1;
    if (!study->afterwards.has_ended || found->leak.verdict == LEAK_FOUND)
        return 0;
    if (find_watched(&afterwards, study, &study->afterwards, account, err)) {
        account_leak_release(found);
        return -1;
    }
    const bool leaks = afterwards.leak.verdict == LEAK_FOUND;
    account_leak_release(leaks ? found : &afterwards);
    *found = leaks ? afterwards : *found;
    return 0;
}

void account_leak_release(struct account_leak *found)
{
    free(found->growing.items);
    free(found->churn.items);
    blame_release(&found->blame);
    growth_release(&found->growth);
    *found = (struct account_leak){0};
}

bool leak_rounds_find(struct leak_rounds *rounds, const struct growth_watch *watch,
                      uint32_t account)
{
    if (!growth_watch_has_steps(watch) || account >= watch->account_count ||
        !watch->accounts[account].is_used)
        return false;
    const struct site_ends *total = &watch->accounts[account].total;
    const struct trend *trend = &total->trend;
    const uint64_t samples = trend->window ? trend->open_until / trend->window : 0;

    if (total->falls_count || total->rises.count < FEWEST_ENDS || samples < FEWEST_ENDS)
        return false;
    *rounds = (struct leak_rounds){
        .count = total->rises.count,
        .bytes = (total->last_bytes - total->first_bytes) / total->rises.count,
        .has_stopped = trend->samples[samples - FEWEST_ENDS] == trend->samples[samples - 1]};
    return true;
}
