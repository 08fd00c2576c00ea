/* SPDX-License-Identifier: MIT */
/* See live_sites.h. */
#include "live_sites.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/analysis/steps/growth.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"

enum { TIMES_ITS_COST = 20, FEWEST_NS = 1000000000 };

void live_sites_learn(struct live_sites *live_sites, const struct table_growth *growth)
{
    live_sites->has_new_modules |= growth->has_grown[GROWING_module];
}

void live_sites_release(struct live_sites *live_sites)
{
    *live_sites = (struct live_sites){0};
}

/* --- growth --- */

static size_t row_of(const struct site_row *rows, size_t count, const struct blamed *blamed)
{
    size_t i = 0;
    while (i < count && rows[i].blamed->row != blamed->row)
        i++;
    return i;
}

/* A site has several sums if it allocates in several phases. Its growth is added only to the first
 * of them. */
static void add_growing(struct live_sites *live_sites, const struct growing *item,
                        const struct sites *sites, const struct blame *blame,
                        const struct site_row *rows)
{
    for (size_t i = 0; i < sites->count; i++) {
        if (sites->items[i].site_id != item->site_id)
            continue;
        const struct blamed *blamed = blame_of(blame, sites->items[i].site_id);
        const size_t row = row_of(rows, live_sites->held.row_count, blamed);
        if (row < live_sites->held.row_count)
            live_sites->held.rows[row].growth_bytes += item->line.slope;
        return;
    }
}

static int find_growth(struct live_sites *live_sites, const struct study *study,
                       const struct sites *sites, const struct blame *blame,
                       const struct site_row *rows, struct err *err)
{
    struct growth growth;
    if (growth_find(&growth, &study->growth, live_sites->account, err))
        return -1;
    live_sites->held.steps = growth.ends == STEP_ENDS ? 0 : growth.ends_count;
    live_sites->held.has_growth = growth.total.has_slope;
    for (size_t i = 0; i < growth.count && i < LIVE_ROWS; i++)
        add_growing(live_sites, &growth.items[i], sites, blame, rows);
    growth_release(&growth);
    return 0;
}

/* --- sites --- */

static void fill_row(struct live_row *to, const struct site_row *row, const struct study *study)
{
    const char *path = study_path(study, row->largest->path);
    *to = (struct live_row){.bytes = row->bytes, .count = row->count};
    snprintf(to->site, sizeof to->site, "%s", row->blamed->text);
    snprintf(to->phase, sizeof to->phase, "%s%s", path ? path : "",
             row->has_more_paths ? ", …" : "");
}

static int find_rows(struct live_sites *live_sites, struct study *study, struct err *err)
{
    struct site_row *rows = NULL;
    struct blame blame;
    struct sites sites;
    int status = -1;
    if (sites_at(&sites, &study->categories, live_sites->account, study->history.last.index, err))
        return -1;
    if (site_rows_blame(&blame, study->symbols, &sites, err))
        goto out;
    const int count = site_rows_of(&rows, &study->history, &sites, &blame, err);
    if (count >= 0) {
        live_sites->held.row_count = count < LIVE_ROWS ? (size_t)count : LIVE_ROWS;
        for (size_t i = 0; i < live_sites->held.row_count; i++)
            fill_row(&live_sites->held.rows[i], &rows[i], study);
        status = find_growth(live_sites, study, &sites, &blame, rows, err);
    }
    free(rows);
    blame_release(&blame);
out:
    sites_release(&sites);
    return status;
}

/* --- the card --- */

/* Returns the part to which a ledger term belongs. The cached part still contains the live bytes
 * here; show_parts subtracts them. If the driver's account is shown, that account contains all
 * memory of the process except the context. */
static enum live_part part_of(const struct ledger_term *term, uint32_t account,
                              const struct device_use *use)
{
    switch (term->kind) {
    case LEDGER_modules:
    case LEDGER_context:
    case LEDGER_own_context:
        return LIVE_PART_context;
    case LEDGER_growth:
    case LEDGER_others:
        return LIVE_PART_others;
    default:
        return account == use->accounts[ACCOUNT_device] || term->account == account
                   ? LIVE_PART_cached
                   : LIVE_PART_driver;
    }
}

static int find_parts(struct live_sites *live_sites, const struct study *study,
                      const struct device_use *use, struct err *err)
{
    struct ledger ledger;
    if (ledger_at(&ledger, &study->history, use, &study->history.last, err))
        return -1;
    for (int part = 0; part < LIVE_PARTS; part++)
        live_sites->parts[part] = 0;
    for (size_t i = 0; i < ledger.count; i++)
        live_sites->parts[part_of(&ledger.terms[i], live_sites->account, use)] +=
            ledger.terms[i].bytes;
    ledger_release(&ledger);
    return 0;
}

/* --- when --- */

static int name_stacks(struct live_sites *live_sites, struct study *study, struct err *err)
{
    if (!study->symbols || live_sites->has_new_modules) {
        symbols_free(study->symbols);
        study->symbols = symbols_new(&study->trace, err);
        live_sites->has_new_modules = false;
    }
    categories_release(&study->categories);
    return study->symbols
               ? categories_init(&study->categories, &study->history, study->symbols, err)
               : -1;
}

int live_sites_update(struct live_sites *live_sites, struct study *study,
                      const struct device_use *use, uint32_t account, bool is_final,
                      struct err *err)
{
    const uint64_t begin_ns = monotonic_ns();
    const bool is_same = live_sites->is_known && live_sites->account == account;
    if (is_same && (live_sites->is_final || (!is_final && begin_ns < live_sites->next_ns)))
        return 0;
    live_sites->account = account;
    if (name_stacks(live_sites, study, err) || find_rows(live_sites, study, err) ||
        find_parts(live_sites, study, use, err))
        return -1;
    live_sites->is_known = true;
    live_sites->is_final = is_final;
    live_sites->held.at_ns = study->history.last.time_ns;
    live_sites->at_index = study->history.last.index;
    const uint64_t cost_ns = (monotonic_ns() - begin_ns) * TIMES_ITS_COST;
    live_sites->next_ns = begin_ns + (cost_ns > FEWEST_NS ? cost_ns : FEWEST_NS);
    return 0;
}

/* --- the view --- */

ORDER_BY(by_growth, struct live_row, FALLING(growth_bytes), FALLING(bytes));
ORDER_BY(by_blocks, struct live_row, FALLING(count), FALLING(bytes));

/* The live bytes are current, but the other parts are older. So a part becomes smaller if the parts
 * before it leave too few bytes of the card. */
static void show_parts(const struct live_sites *live_sites, struct live_view *view)
{
    uint64_t left = view->total_bytes;
    for (int part = 0; part < LIVE_PARTS; part++) {
        uint64_t bytes = part == LIVE_PART_live ? view->live_bytes : live_sites->parts[part];
        if (part == LIVE_PART_cached)
            bytes = bytes > view->live_bytes ? bytes - view->live_bytes : 0;
        view->parts[part] = part == LIVE_PART_free || bytes > left ? left : bytes;
        left -= view->parts[part];
    }
}

void live_sites_show(const struct live_sites *live_sites, int sort, struct live_view *view)
{
    view->held = live_sites->held;
    if (sort != LIVE_SORT_bytes)
        SORT(view->held.rows, view->held.row_count,
             sort == LIVE_SORT_growth ? by_growth : by_blocks);
    if (view->total_bytes)
        show_parts(live_sites, view);
}
