/* SPDX-License-Identifier: MIT */
/* Lists of sites: who held memory, by call stack. */
#include "parts.h"

#include "analyzer/analysis/sites.h"

void page_stocks_find(struct page_stocks *stocks, const struct doc *doc, const struct study *study,
                      const struct device_use *use, const struct view *view)
{
    const size_t most = doc_takes(doc, DOC_DETAIL) ? STUDY_STOCKS_MAX : 1;

    stocks->count = study_stocks(study, use, view, stocks->numbers, most);
}

static int add_site(struct doc *doc, const struct study *study, const struct view *view,
                    const struct stock *stock, const struct sites *sites, const struct site *site,
                    int frame_lines, struct err *err)
{
    const double share = sites->total_bytes ? (double)site->bytes / (double)sites->total_bytes : 0;

    page_layer(doc_detail(doc), study, stock, "Layer");
    doc_bytes(doc, "bytes", "Bytes", site->bytes);
    doc_ratio(doc_summary(doc), NULL, "Share", share);
    doc_count(doc, "count", "Blocks", site->count);
    doc_text(doc, "phase", "Phase", study_path(study, site->path));
    doc_text(doc, "category", "Category", category_key(site->category));
    return page_frames(doc, study, view, site->stack_id, frame_lines, err);
}

static int add_sites(struct doc *doc, const struct study *study, const struct view *view,
                     const struct page_site_list *list, uint32_t number, const struct sites *sites,
                     bool is_leading, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    const size_t limit = view_limit(view, sites->count);
    int status = 0;

    for (size_t i = 0; i < limit && !status; i++) {
        doc_row_begin(doc_detail_if(doc, !is_leading || (!view->top && i >= list->summary_rows)));
        status = add_site(doc, study, view, stock, sites, &sites->items[i], list->frame_lines, err);
        doc_row_end(doc);
    }
    return status;
}

static int add_sites_of_stock(struct doc *doc, const struct study *study, const struct view *view,
                              const struct page_site_list *list, uint32_t number, uint64_t index,
                              bool is_leading, struct err *err)
{
    struct sites sites;

    if (sites_at(&sites, &study->categories, number, index, err))
        return -1;
    const int status = add_sites(doc, study, view, list, number, &sites, is_leading, err);
    sites_release(&sites);
    return status;
}

int page_sites_found(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t stock, const struct sites *sites, const struct page_site_list *list,
                     struct err *err)
{
    doc_list_begin(doc, list->key, list->heading);
    const int status = add_sites(doc, study, view, list, stock, sites, true, err);
    doc_list_end(doc);
    return status;
}

int page_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct page_stocks *stocks, const struct page_site_list *list, struct err *err)
{
    doc_list_begin(doc, list->key, list->heading);
    for (size_t i = 0; i < stocks->count; i++)
        if (stocks->moments[i].index != INDEX_NONE &&
            add_sites_of_stock(doc, study, view, list, stocks->numbers[i], stocks->moments[i].index,
                               i == 0, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int page_sites_at_peak(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    static const struct page_site_list list = {.key = "sites_at_peak",
                                               .heading = "Who held it at the peak",
                                               .summary_rows = 5,
                                               .frame_lines = 3};
    struct page_stocks stocks;

    page_stocks_find(&stocks, doc, study, use, view);
    for (size_t i = 0; i < stocks.count; i++)
        stocks.moments[i] = study->history.stocks[stocks.numbers[i]].peak;
    return page_sites(doc, study, view, &stocks, &list, err);
}
