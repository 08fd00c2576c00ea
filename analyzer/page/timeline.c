/* SPDX-License-Identifier: MIT */
/* The page of `timeline`: live bytes over time, per layer; in a summary as bars. */
#include "parts.h"

#include "analyzer/analysis/timeline.h"

enum { SAMPLES = 500, SUMMARY_SAMPLES = 40 };

static void add_bar(struct doc *doc, uint64_t bytes, uint64_t peak_bytes)
{
    static const char full[] = "########################################";
    const double share = peak_bytes ? (double)bytes / (double)peak_bytes : 0;

    doc_textf(doc_summary(doc), NULL, "", "%.*s", (int)(share * (double)(sizeof full - 1) + 0.5),
              full);
}

static int add_timeline_of_stock(struct doc *doc, const struct study *study, uint32_t number,
                                 size_t samples, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    struct timeline timeline;

    if (timeline_of(&timeline, &study->history, number, samples, err))
        return -1;
    for (size_t i = 0; i < timeline.count; i++) {
        doc_row_begin(doc);
        page_layer(doc_detail(doc), study, stock, "Layer");
        doc_integer(doc, "time_ns", "Time", DOC_NS, (int64_t)timeline.samples[i].time_ns);
        doc_bytes(doc, "live_bytes", "Most live", timeline.samples[i].max_bytes);
        doc_bytes(doc_detail(doc), "lowest_bytes", "Least live", timeline.samples[i].min_bytes);
        add_bar(doc, timeline.samples[i].max_bytes, stock->peak_bytes);
        doc_row_end(doc);
    }
    timeline_release(&timeline);
    return 0;
}

static int add_bars(struct doc *doc, const struct study *study, const struct page_stocks *stocks,
                    long samples, struct err *err)
{
    char name[PAGE_LAYER_BYTES];
    int status;

    if (!stocks->count || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    const struct stock *leading = &study->history.stocks[stocks->numbers[0]];
    doc_text(doc_summary(doc), NULL, "layer", page_layer_name(study, leading, name));
    doc_list_begin(doc_summary(doc), NULL, "Live over time");
    status = add_timeline_of_stock(doc, study, stocks->numbers[0],
                                   (size_t)(samples ? samples : SUMMARY_SAMPLES), err);
    doc_list_end(doc);
    return status;
}

static int add_timeline(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, struct err *err)
{
    const struct page_timeline_options *options = view->own;
    const size_t samples = (size_t)(options->samples ? options->samples : SAMPLES);
    struct page_stocks stocks;

    page_stocks_find(&stocks, doc, study, use, view);
    if (add_bars(doc, study, &stocks, options->samples, err))
        return -1;
    doc_list_begin(doc_detail(doc), "timeline", "Live over time, all layers");
    for (size_t i = 0; i < stocks.count && doc_takes(doc, DOC_BOTH); i++)
        if (add_timeline_of_stock(doc, study, stocks.numbers[i], samples, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

const struct page page_timeline = {
    .schema = "gpumemtrace.timeline/1", .device = add_timeline, .tail = page_warnings};
