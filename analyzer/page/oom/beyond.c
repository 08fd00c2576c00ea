/* SPDX-License-Identifier: MIT */
/*
 * Finds the sites that held, at a failure, the memory that no tensor shows: memory outside the
 * framework, and memory in the private pools of CUDA graphs.
 */
#include "analyzer/page/parts.h"

#include <stdlib.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/oom/beyond.h"
#include "analyzer/render/units.h"
#include "told.h"
#include "analyzer/thresholds/thresholds.h"

static const struct {
    const char *key, *heading, *last_heading;
} lists[] = {
    [OOM_BEYOND_POOLS] = {"outside_sites", "Held outside the framework by",
                          "Memory outside the framework at the last failure"},
    [OOM_BEYOND_GRAPHS] = {"graph_sites", "Held for CUDA graphs by",
                           "Private pools of CUDA graphs at the last failure"},
};

static int add_most(struct text *out, const char *before, const struct study *study,
                    const struct sites *sites, const struct blame *blame, struct err *err)
{
    struct site_row *rows;
    const int count = site_rows_of(&rows, &study->history, sites, blame, err);
    if (count < 0)
        return -1;
    const bool is_line = count > 0 && rows[0].blamed->site.is_found;
    if (is_line)
        text_addf(out, "%s%s (%s)", before, rows[0].blamed->label, BYTES_TEXT(rows[0].bytes));
    free(rows);
    return is_line;
}

/* Adds the sites with their labels. The sites are labelled together with all other sites of the
 * driver's memory. If a helper is on the stacks of all of them, it labels none of them. */
static int add_told_apart(struct text *out, const char *before, const struct study *study,
                          const struct oom *oom, const struct sites *sites, struct err *err)
{
    const uint32_t account = oom_beyond_account(&study->history, oom);
    struct sites all;
    struct blame blame;
    int status = -1;
    if (sites_at(&all, &study->categories, account, oom->failure->at.index, err))
        return -1;
    if (!site_rows_blame(&blame, study->symbols, &all, err)) {
        status = add_most(out, before, study, sites, &blame, err);
        blame_release(&blame);
    }
    sites_release(&all);
    return status;
}

int page_oom_add_most(struct text *out, const char *before, const struct study *study,
                      const struct oom *oom, enum oom_beyond which, struct err *err)
{
    struct sites sites;
    if (oom_beyond_sites(&sites, &study->categories, oom, which, err))
        return -1;
    const int status = add_told_apart(out, before, study, oom, &sites, err);
    sites_release(&sites);
    return status;
}

static int add_beyond(struct doc *doc, const struct study *study, const struct view *view,
                      const struct oom *oom, enum oom_beyond which, bool is_last, struct err *err)
{
    const struct page_site_list list = {.key = is_last ? NULL : lists[which].key,
                                        .heading = is_last ? lists[which].last_heading
                                                           : lists[which].heading,
                                        .summary_rows = is_last ? OOM_SUMMARY_SITES : OOM_SITES,
                                        .frame_lines = OOM_SITE_FRAME_LINES};
    struct view shown = *view;
    struct sites sites;
    if (oom_beyond_sites(&sites, &study->categories, oom, which, err))
        return -1;
    if (!shown.top)
        shown.top = (long)list.summary_rows;
    const bool is_shown =
        !is_last || sites.total_bytes > oom->driver_live_bytes / WORTH_A_TABLE_DIVISOR;
    const int status =
        is_shown
            ? page_sites_found(is_last ? doc_summary(doc) : doc_detail(doc), study, &shown,
                               oom_beyond_account(&study->history, oom), &sites, NULL, &list, err)
            : 0;
    sites_release(&sites);
    return status;
}

int page_oom_add_beyond(struct doc *doc, const struct study *study, const struct view *view,
                        const struct oom *oom, bool is_last, struct err *err)
{
    return add_beyond(doc, study, view, oom, OOM_BEYOND_POOLS, is_last, err) ||
                   add_beyond(doc, study, view, oom, OOM_BEYOND_GRAPHS, is_last, err)
               ? -1
               : 0;
}
