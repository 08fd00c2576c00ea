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

static void add_timeline_of_stock(struct doc *doc, const struct study *study,
                                  const struct timelines *timelines, uint32_t number)
{
    const struct stock *stock = &study->history.stocks[number];
    const struct timeline timeline = timeline_of(timelines, number);

    for (size_t i = 0; i < timeline.count; i++) {
        doc_row_begin(doc);
        page_layer(doc_detail(doc), study, stock, "Layer");
        doc_integer(doc, "time_ns", "Time", DOC_NS, (int64_t)timeline.samples[i].time_ns);
        doc_bytes(doc, "live_bytes", "Most live", timeline.samples[i].max_bytes);
        doc_bytes(doc_detail(doc), "lowest_bytes", "Least live", timeline.samples[i].min_bytes);
        add_bar(doc, timeline.samples[i].max_bytes, stock->peak_bytes);
        doc_row_end(doc);
    }
}

/* The samples of a summary, and those of a list of all. */
enum { TIMELINE_SUMMARY, TIMELINE_DETAIL };

static void ask_timeline(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    const struct page_timeline_options *options = view->own;
    const size_t samples = (size_t)options->samples;

    if (doc_takes(doc, DOC_SUMMARY))
        ask->timeline_samples[TIMELINE_SUMMARY] = samples ? samples : SUMMARY_SAMPLES;
    if (doc_takes(doc, DOC_DETAIL))
        ask->timeline_samples[TIMELINE_DETAIL] = samples ? samples : SAMPLES;
}

static void add_bars(struct doc *doc, const struct study *study, const struct page_stocks *stocks)
{
    char name[PAGE_LAYER_BYTES];

    if (!stocks->count || !doc_takes(doc, DOC_SUMMARY))
        return;
    const struct stock *leading = &study->history.stocks[stocks->numbers[0]];
    doc_text(doc_summary(doc), NULL, "layer", page_layer_name(study, leading, name));
    doc_list_begin(doc_summary(doc), NULL, "Live over time");
    add_timeline_of_stock(doc, study, &study->timelines[TIMELINE_SUMMARY], stocks->numbers[0]);
    doc_list_end(doc);
}

static int add_timeline(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, struct err *err)
{
    struct page_stocks stocks;

    (void)err;
    page_stocks_find(&stocks, doc, study, use, view);
    add_bars(doc, study, &stocks);
    doc_list_begin(doc_detail(doc), "timeline", "Live over time, all layers");
    for (size_t i = 0; i < stocks.count && doc_takes(doc, DOC_BOTH); i++)
        add_timeline_of_stock(doc, study, &study->timelines[TIMELINE_DETAIL], stocks.numbers[i]);
    doc_list_end(doc);
    return 0;
}

const struct page page_timeline = {.schema = "gpumemtrace.timeline/1",
                                   .ask = ask_timeline,
                                   .device = add_timeline,
                                   .tail = page_warnings};
