/* SPDX-License-Identifier: MIT */
/* Adds the rows of sites: the lines that held memory at the peak, and the lines whose memory grows;
 * see summary.h. */
#include <stdlib.h>

#include "parts.h"
#include "analyzer/analysis/site_tables/site_rows.h"

struct site_figures {
    const char *moment, *site, *phase, *category;
    uint64_t bytes, blocks, stacks, stack_id;
};

static void add_site(struct rows *rows, const struct summary_place *place, int number,
                     const struct site_figures *site)
{
    rows_begin(rows);
    rows_integer(rows, FLEET_site_process, place->process);
    rows_integer(rows, FLEET_site_device, place->use->device);
    rows_text(rows, FLEET_site_moment, site->moment);
    rows_integer(rows, FLEET_site_number, number);
    rows_text(rows, FLEET_site_site, site->site);
    rows_text(rows, FLEET_site_phase, site->phase);
    rows_text(rows, FLEET_site_category, site->category);
    rows_number(rows, FLEET_site_bytes, site->bytes);
    rows_number(rows, FLEET_site_blocks, site->blocks);
    rows_number(rows, FLEET_site_stacks, site->stacks);
    rows_number(rows, FLEET_site_stack_id, site->stack_id);
    rows_end(rows);
}

/* Returns the sums of the rows from `first` on, for one row. */
static struct site_figures others_of(const struct site_row *rows, size_t first, size_t count)
{
    struct site_figures others = {.moment = "peak", .site = "(other sites)"};
    for (size_t i = first; i < count; i++) {
        others.bytes += rows[i].bytes;
        others.blocks += rows[i].count;
        others.stacks += rows[i].stack_count;
    }
    return others;
}

static void add_site_rows(struct rows *rows, const struct summary_place *place,
                          const struct site_row *found, size_t count)
{
    for (size_t i = 0; i < count && i < SUMMARY_SITES; i++) {
        const struct site_row *row = &found[i];
        const struct site_figures site = {.moment = "peak",
                                          .site = row->blamed->text,
                                          .phase = study_path(place->study, row->largest->path),
                                          .category = category_key(row->largest->category),
                                          .bytes = row->bytes,
                                          .blocks = row->count,
                                          .stacks = row->stack_count,
                                          .stack_id = site_stack(row->largest->site_id)};
        add_site(rows, place, (int)i, &site);
    }
    if (count > SUMMARY_SITES) {
        const struct site_figures others = others_of(found, SUMMARY_SITES, count);
        add_site(rows, place, SUMMARY_SITES, &others);
    }
}

static int add_held(struct rows *rows, const struct summary_place *place, const struct sites *sites,
                    struct err *err)
{
    const struct study *study = place->study;
    struct site_row *found;
    struct blame blame;
    if (site_rows_blame(&blame, study->symbols, sites, err))
        return -1;
    const int count = site_rows_of(&found, &study->history, sites, &blame, err);
    if (count >= 0) {
        add_site_rows(rows, place, found, (size_t)count);
        free(found);
    }
    blame_release(&blame);
    return count < 0 ? -1 : 0;
}

/* Adds one row for each line that grows. */
static void add_growing(struct rows *rows, const struct summary_place *place,
                        const struct leak_rows *growing)
{
    for (size_t i = 0; i < growing->count && i < SUMMARY_SITES; i++) {
        const struct leak_row *row = &growing->items[i];
        const struct site_figures site = {
            .moment = "step",
            .site = row->blamed->text,
            .category = row->cache,
            .bytes = row->slope > 0 ? (uint64_t)summary_whole(row->slope) : 0,
            .stacks = row->stack_count,
            .stack_id = site_stack(row->blamed->site_id)};
        add_site(rows, place, (int)i, &site);
    }
}

int summary_add_sites(struct rows *rows, const struct summary_place *place,
                      const struct account_leak *found, struct err *err)
{
    const struct study *study = place->study;
    const uint32_t number = place->use->leading;
    const struct moment *peak = &study->history.accounts[number].peak;
    struct sites sites;
    add_growing(rows, place, &found->growing);
    if (peak->index == INDEX_NONE)
        return 0;
    if (sites_at(&sites, &study->categories, number, peak->index, err))
        return -1;
    const int status = add_held(rows, place, &sites, err);
    sites_release(&sites);
    return status;
}
