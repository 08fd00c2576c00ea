/* SPDX-License-Identifier: MIT */
/* The page of `peak`: who held the memory at a moment, by category, phase and call stack. */
#include "parts.h"

#include <stdlib.h>

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/render/units.h"

/* What peaked on one device, when, in which phase. */
static int say_peak(struct opening *opening, const struct study *study,
                    const struct device_use *use)
{
    const struct stock *stock = &study->history.stocks[use->leading];
    char device[STUDY_DEVICE_BYTES], name[PAGE_LAYER_BYTES];
    char size[UNITS_TEXT_BYTES], time[UNITS_TEXT_BYTES];
    const char *path = study_path(study, stock->peak_path);

    study_device_name(use->device, device);
    if (stock->peak.index == INDEX_NONE)
        return page_say(opening, "On %s no GPU memory was allocated.", device);
    return page_say(opening, "On %s the %s peaked at %s, %s after the start%s%s.", device,
                    page_layer_name(study, stock, name), units_bytes(size, stock->peak_bytes),
                    units_duration(time, (int64_t)stock->peak.time_ns), path ? ", in phase " : "",
                    path ? path : "");
}

int page_peak_answer(struct opening *opening, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;

    (void)err;
    for (size_t i = 0; i < history->device_count && status >= 0; i++)
        if (view->device < 0 || history->devices[i].device == view->device)
            status = say_peak(opening, study, &history->devices[i]);
    return history->device_count ? status : page_say(opening, "No device was used.");
}

/* What was live in each layer at its moment; a summary has the first. */
struct held {
    struct page_stocks stocks;
    struct sites sites[STUDY_STOCKS_MAX];
};

static int held_find(struct held *held, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct page_stocks *stocks = &held->stocks;

    for (size_t i = 0; i < stocks->count; i++) {
        struct moment *moment = &held->stocks.moments[i];

        if (moment_find(view->at, &study->history, stocks->numbers[i], moment, err) ||
            (moment->index != INDEX_NONE &&
             sites_at(&held->sites[i], &study->categories, stocks->numbers[i], moment->index, err)))
            return -1;
    }
    return 0;
}

static void held_release(struct held *held)
{
    for (size_t i = 0; i < held->stocks.count; i++)
        sites_release(&held->sites[i]);
}

static const struct stock *held_stock(const struct held *held, const struct study *study, size_t i)
{
    return &study->history.stocks[held->stocks.numbers[i]];
}

static void add_moments(struct doc *doc, const struct study *study, const struct view *view,
                        const struct held *held)
{
    doc_list_begin(doc, "moments", NULL);
    for (size_t i = 0; i < held->stocks.count; i++) {
        const struct moment *moment = &held->stocks.moments[i];
        const bool known = moment->index != INDEX_NONE;

        doc_row_begin(doc_detail_if(doc, i > 0));
        page_layer(doc, study, held_stock(held, study, i), "Layer");
        doc_text(doc_detail(doc), "at", "Moment", view->at ? view->at : "peak");
        if (known)
            doc_integer(doc, "time_ns", "At", DOC_NS, (int64_t)moment->time_ns);
        else
            doc_null(doc, "time_ns", "At", DOC_NS);
        doc_known_count(doc, "seq", "Event", known, known ? moment->seq : 0);
        doc_bytes(doc, "live_bytes", "Live", held->sites[i].total_bytes);
        doc_count(doc, "blocks", "Blocks", held->sites[i].total_count);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_sum(struct doc *doc, const struct study *study, const struct stock *stock,
                    enum sites_by by, const struct site *sum)
{
    const char *path = study_path(study, sum->path);

    page_layer(doc_detail(doc), study, stock, "Layer");
    if (by == SITES_BY_CATEGORY) {
        doc_text(doc, "category", "Category", category_key(sum->category));
        doc_words(doc, "%s", category_title(sum->category));
    } else {
        doc_text(doc, "phase", "Phase of birth", path);
        doc_words(doc, "%s", path ? path : PAGE_OUTSIDE);
    }
    doc_bytes(doc, "bytes", "Bytes", sum->bytes);
    doc_count(doc, "count", "Blocks", sum->count);
}

static int add_sums(struct doc *doc, const struct study *study, const struct held *held,
                    enum sites_by by, struct err *err)
{
    if (by == SITES_BY_CATEGORY)
        doc_list_begin(doc, "categories", "By category");
    else
        doc_list_begin(doc, "phases_of_birth", "By phase");
    for (size_t i = 0; i < held->stocks.count; i++) {
        struct site *sums;
        const int count = sites_sum(&held->sites[i], by, study->history.path_count, &sums, err);

        if (count < 0)
            return -1;
        for (int n = 0; n < count; n++) {
            doc_row_begin(doc_detail_if(doc, i > 0));
            add_sum(doc, study, held_stock(held, study, i), by, &sums[n]);
            doc_row_end(doc);
        }
        free(sums);
    }
    doc_list_end(doc);
    return 0;
}

static int add_peak_of_device(struct doc *doc, const struct study *study,
                              const struct device_use *use, const struct view *view,
                              struct err *err)
{
    static const struct page_site_list list = {.key = "sites",
                                               .heading = "By call stack",
                                               .summary_rows = PAGE_SITES,
                                               .frame_lines = PAGE_WHOLE_STACK};
    struct held held = {0};
    int status = -1;

    page_stocks_find(&held.stocks, doc, study, use, view);
    if (held_find(&held, study, view, err))
        goto out;
    add_moments(doc, study, view, &held);
    if (add_sums(doc, study, &held, SITES_BY_CATEGORY, err) ||
        add_sums(doc, study, &held, SITES_BY_PATH, err) ||
        page_sites(doc, study, view, &held.stocks, &list, err))
        goto out;
    status = 0;
out:
    held_release(&held);
    return status;
}

const struct page page_peak = {
    .schema = "gpumemtrace.peak/1", .device = add_peak_of_device, .tail = page_warnings};
