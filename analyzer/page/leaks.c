/* SPDX-License-Identifier: MIT */
/* The page of `leaks`, and its parts: what was never freed, and what grows with every step. */
#include "parts.h"

#include "analyzer/analysis/leaks.h"

enum { LEAK_FRAME_LINES = 5 };

static void add_total(struct doc *doc, const struct study *study, const struct stock *stock)
{
    page_layer(doc, study, stock, "Layer");
    doc_bytes(doc, "live_at_exit_bytes", "Left at exit", stock->live_bytes);
    doc_count(doc, "blocks", "Blocks",
              stock->allocations_count - stock->frees_count - stock->implicit_frees_count -
                  stock->lost_frees_count);
}

static void add_totals(struct doc *doc, const struct study *study, const struct page_stocks *stocks)
{
    doc_list_begin(doc, "totals", "Never freed");
    for (size_t i = 0; i < stocks->count; i++) {
        doc_row_begin(doc_detail_if(doc, i > 0));
        add_total(doc, study, &study->history.stocks[stocks->numbers[i]]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static int add_growing_site(struct doc *doc, const struct study *study, const struct view *view,
                            const struct stock *stock, const struct growth *growth,
                            const struct growing *site, struct err *err)
{
    page_layer(doc, study, stock, "Layer");
    doc_bytes(doc, "bytes_per_step", "Per step", (uint64_t)(site->bytes_per_step + 0.5));
    doc_bytes(doc, "first_bytes", "After 2nd step", site->first_bytes);
    doc_bytes(doc, "last_bytes", "After last", site->last_bytes);
    doc_count(doc, "steps", "Steps", growth->ends_count);
    doc_count(doc, "rises", "Rises", site->rises_count);
    return page_frames(doc, study, view, site->stack_id, LEAK_FRAME_LINES, err);
}

static int add_growing_of_stock(struct doc *doc, const struct study *study, const struct view *view,
                                uint32_t number, bool is_leading, struct err *err)
{
    struct growth growth;
    int status = 0;

    if (growth_find(&growth, &study->growth, number, err))
        return -1;
    const size_t limit = view_limit(view, growth.count);
    for (size_t i = 0; i < limit && !status; i++) {
        doc_row_begin(doc_detail_if(doc, !is_leading || (!view->top && i >= PAGE_SITES)));
        status = add_growing_site(doc, study, view, &study->history.stocks[number], &growth,
                                  &growth.items[i], err);
        doc_row_end(doc);
    }
    growth_release(&growth);
    return status;
}

static int add_growing(struct doc *doc, const char *key, const struct study *study,
                       const struct view *view, const struct page_stocks *stocks, struct err *err)
{
    doc_list_begin(doc, key, "Growing with every step");
    for (size_t i = 0; i < stocks->count; i++)
        if (add_growing_of_stock(doc, study, view, stocks->numbers[i], i == 0, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int page_leaks_of_device(struct doc *doc, const struct study *study, const struct device_use *use,
                         const struct view *view, struct err *err)
{
    static const struct page_site_list list = {.key = "live_at_exit",
                                               .heading = "Live at exit",
                                               .summary_rows = PAGE_SITES,
                                               .frame_lines = LEAK_FRAME_LINES};
    struct page_stocks stocks;

    page_stocks_find(&stocks, doc, study, use, view);
    for (size_t i = 0; i < stocks.count; i++)
        stocks.moments[i] = study->history.last;
    add_totals(doc, study, &stocks);
    return add_growing(doc, "growing", study, view, &stocks, err) ||
                   page_sites(doc, study, view, &stocks, &list, err)
               ? -1
               : 0;
}

int page_leaks_of_all(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "leaks", "Leaks");
    for (size_t i = 0; i < history->device_count && doc_takes(doc, DOC_BOTH); i++) {
        const struct device_use *use = &history->devices[i];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        page_device_number(doc, "Device", use->device);
        if (page_leaks_of_device(doc, study, use, view, err))
            return -1;
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

int page_growth(struct doc *doc, const struct study *study, const struct device_use *use,
                const struct view *view, struct err *err)
{
    struct page_stocks leading = {.numbers = {study_stock(study, use, view)}, .count = 1};

    if (leading.numbers[0] == HISTORY_NONE || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    return add_growing(doc_summary(doc), NULL, study, view, &leading, err);
}

static int add_leaks(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    doc_object_begin(doc, "leaks", NULL);
    const int status = page_leaks_of_device(doc, study, use, view, err);
    doc_object_end(doc);
    return status;
}

const struct page page_leaks = {.schema = "gpumemtrace.leaks/1",
                                .needs = STUDY_NEEDS_growth,
                                .device = add_leaks,
                                .tail = page_warnings};
