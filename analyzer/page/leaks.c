/* SPDX-License-Identifier: MIT */
/* What was never freed, and what grows, as a document. */
#include "docs.h"

#include "analyzer/analysis/leaks.h"

static void add_total(struct doc *doc, const struct study *study, const struct view *view,
                      uint32_t number)
{
    const struct stock *stock = &study->history.stocks[number];
    bool people = view->people;

    doc_row_begin(doc);
    docs_layer(doc, study, view, stock);
    doc_bytes(doc, "live_at_exit_bytes", people ? "Left at exit" : NULL, stock->live_bytes);
    doc_count(doc, "blocks", people ? "Blocks" : NULL,
              stock->allocations_count - stock->frees_count - stock->implicit_frees_count -
                  stock->lost_frees_count);
    doc_row_end(doc);
}

static int add_growing(struct doc *doc, const struct study *study, const struct view *view,
                       uint32_t number, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    bool people = view->people;
    struct growth growth;
    size_t limit;
    int status = 0;

    if (growth_find(&growth, &study->history, number, err))
        return -1;
    limit = view_limit(view, growth.count);
    for (size_t i = 0; i < limit && !status; i++) {
        const struct growing *site = &growth.items[i];

        doc_row_begin(doc);
        docs_layer(doc, study, view, stock);
        doc_bytes(doc, "bytes_per_step", people ? "Per step" : NULL,
                  (uint64_t)(site->bytes_per_step + 0.5));
        doc_bytes(doc, "first_bytes", people ? "After 2nd step" : NULL, site->first_bytes);
        doc_bytes(doc, "last_bytes", people ? "After last" : NULL, site->last_bytes);
        doc_count(doc, "steps", people ? "Steps" : NULL, growth.ends_count);
        doc_count(doc, "rises", people ? "Rises" : NULL, site->rises_count);
        status = docs_frames(doc, study, view, site->stack_id, 5, err);
        doc_row_end(doc);
    }
    growth_release(&growth);
    return status;
}

static int add_growing_list(struct doc *doc, const struct study *study, const struct view *view,
                            const uint32_t *stocks, size_t count, struct err *err)
{
    doc_list_begin(doc, "growing", view->people ? "Growing with every step" : NULL);
    for (size_t i = 0; i < count; i++)
        if (add_growing(doc, study, view, stocks[i], err))
            return -1;
    doc_list_end(doc);
    return 0;
}

/* Adds to the object that is open. */
static int add_figures(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    uint32_t stocks[STUDY_STOCKS_MAX], indices[STUDY_STOCKS_MAX];
    struct site_list list = {.key = "live_at_exit",
                             .heading = "Live at exit",
                             .stocks = stocks,
                             .indices = indices,
                             .frames = 5};

    list.count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);
    doc_list_begin(doc, "totals", view->people ? "Never freed" : NULL);
    for (size_t i = 0; i < list.count; i++) {
        add_total(doc, study, view, stocks[i]);
        indices[i] = history->event_count ? history->event_count - 1 : HISTORY_NONE;
    }
    doc_list_end(doc);
    if (add_growing_list(doc, study, view, stocks, list.count, err))
        return -1;
    return docs_sites(doc, study, view, &list, err);
}

int docs_leaks(struct doc *doc, const struct study *study, const struct device_use *use,
               const struct view *view, struct err *err)
{
    int status;

    doc_object_begin(doc, "leaks", NULL);
    status = add_figures(doc, study, use, view, err);
    doc_object_end(doc);
    return status;
}

int docs_all_leaks(struct doc *doc, const struct study *study, const struct view *view,
                   struct err *err)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "leaks", NULL);
    for (size_t d = 0; d < history->device_count; d++) {
        const struct device_use *use = &history->devices[d];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        if (use->device == DEVICE_UNKNOWN)
            doc_null(doc, "device", NULL, DOC_COUNT);
        else
            doc_count(doc, "device", NULL, (uint64_t)use->device);
        if (add_figures(doc, study, use, view, err))
            return -1;
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

int docs_growth(struct doc *doc, const struct study *study, const struct device_use *use,
                const struct view *view, struct err *err)
{
    uint32_t stock = study_stock(study, use, view);
    struct growth growth;
    bool any;

    if (stock == HISTORY_NONE)
        return 0;
    if (growth_find(&growth, &study->history, stock, err))
        return -1;
    any = growth.count > 0;
    growth_release(&growth);
    return any ? add_growing_list(doc, study, view, &stock, 1, err) : 0;
}
