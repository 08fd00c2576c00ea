/* SPDX-License-Identifier: MIT */
/* Sites as a document. */
#include "docs.h"

#include "analyzer/analysis/sites.h"

static int add_site(struct doc *doc, const struct study *study, const struct view *view,
                    const struct stock *stock, const struct sites *sites, const struct site *site,
                    int frames, struct err *err)
{
    bool people = view->people;

    doc_row_begin(doc);
    if (!people)
        docs_layer(doc, study, view, stock);
    doc_bytes(doc, "bytes", people ? "Bytes" : NULL, site->bytes);
    if (people)
        doc_ratio(doc, NULL, "Share",
                  sites->total_bytes ? (double)site->bytes / (double)sites->total_bytes : 0);
    doc_count(doc, "count", people ? "Blocks" : NULL, site->count);
    doc_text(doc, "phase", people ? "Phase" : NULL, study_path(study, site->path));
    doc_text(doc, "category", people ? "Category" : NULL, category_key(site->category));
    if (docs_frames(doc, study, view, site->stack_id, frames, err))
        return -1;
    doc_row_end(doc);
    return 0;
}

static int add_stock_sites(struct doc *doc, const struct study *study, const struct view *view,
                           uint32_t number, uint32_t index, int frames, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    struct sites sites;
    size_t limit;
    int status = 0;

    if (sites_at(&sites, &study->categories, number, index, err))
        return -1;
    limit = view_limit(view, sites.count);
    for (size_t i = 0; i < limit && !status; i++)
        status = add_site(doc, study, view, stock, &sites, &sites.items[i], frames, err);
    sites_release(&sites);
    return status;
}

int docs_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct site_list *list, struct err *err)
{
    doc_list_begin(doc, list->key, view->people ? list->heading : NULL);
    for (size_t i = 0; i < list->count; i++)
        if (list->indices[i] != HISTORY_NONE &&
            add_stock_sites(doc, study, view, list->stocks[i], list->indices[i], list->frames, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int docs_sites_at_peak(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    enum { REPORT_LINES = 3, REPORT_SITES = 5 };
    uint32_t stocks[STUDY_STOCKS_MAX], indices[STUDY_STOCKS_MAX];
    struct view shown = *view;
    struct site_list list = {.key = "sites_at_peak",
                             .heading = "Who held it at the peak",
                             .stocks = stocks,
                             .indices = indices,
                             .frames = REPORT_LINES};

    list.count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);
    for (size_t i = 0; i < list.count; i++)
        indices[i] = study->history.stocks[stocks[i]].peak_index;
    if (view->people && !view->top)
        shown.top = REPORT_SITES;
    return docs_sites(doc, study, &shown, &list, err);
}
