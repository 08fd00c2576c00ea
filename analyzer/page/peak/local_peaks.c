/* SPDX-License-Identifier: MIT */
/* Adds the highest separate moments to a page; see groups.h. */
#include <stdlib.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/page/groups.h"

static void add_held_site(struct doc *doc, const struct site_row *row)
{
    doc_text(doc, "site", "Most by", row && row->blamed->is_known ? row->blamed->label : NULL);
    doc_known_bytes(doc, "site_bytes", "Its bytes", row != NULL, row ? row->bytes : 0);
}

static int add_largest_site(struct doc *doc, const struct study *study, uint32_t account,
                            const struct local_peak *local_peak, struct err *err)
{
    struct sites sites;
    struct blame blame;
    struct site_row *rows;
    int count = -1;
    if (sites_at(&sites, &study->categories, account, local_peak->at.index, err))
        return -1;
    if (!site_rows_blame(&blame, study->symbols, &sites, err)) {
        count = site_rows_of(&rows, &study->history, &sites, &blame, err);
        if (count >= 0) {
            add_held_site(doc, count ? rows : NULL);
            free(rows);
        }
        blame_release(&blame);
    }
    sites_release(&sites);
    return count < 0 ? -1 : 0;
}

static int add_local_peak(struct doc *doc, const struct study *study, uint32_t account,
                          const struct local_peak *local_peak, struct err *err)
{
    page_layer(doc_detail(doc), study, &study->history.accounts[account], "Layer");
    page_time(doc, study, "time_ns", "At", local_peak->at.time_ns);
    doc_count(doc, "seq", "Event", local_peak->at.seq);
    doc_bytes(doc, "live_bytes", "Live", local_peak->bytes);
    doc_text(doc, "phase", "Phase", study_path(study, local_peak->path));
    return add_largest_site(doc, study, account, local_peak, err);
}

int page_local_peaks(struct doc *doc, const struct study *study, const struct view *view,
                     const struct page_accounts *accounts, struct err *err)
{
    int status = 0;
    doc_list_begin(doc, "high_moments", "The highest separate moments");
    for (size_t i = 0; i < accounts->count; i++) {
        const uint32_t account = accounts->numbers[i];
        const struct account_local_peaks *own = local_peaks_of(&study->local_peaks, account);
        const size_t limit = view_limit(view, own->count);

        for (size_t n = 0; n < limit && !status; n++) {
            doc_row_begin(doc_detail_if(doc, i > 0));
            status = add_local_peak(doc, study, account, &own->items[n], err);
            doc_row_end(doc);
        }
    }
    doc_list_end(doc);
    return status;
}
