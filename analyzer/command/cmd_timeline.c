/* SPDX-License-Identifier: MIT */
/* `gpumemtrace timeline`: live bytes over time, per layer. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/timeline.h"

enum { SAMPLES_MOST = 1000000 };

struct own {
    long samples; /* 0: as many as suit the reader */
};

static void add_bar(struct doc *doc, uint64_t bytes, uint64_t peak_bytes)
{
    static const char full[] = "########################################";
    double share = peak_bytes ? (double)bytes / (double)peak_bytes : 0;

    doc_textf(doc, NULL, "", "%.*s", (int)(share * (double)(sizeof full - 1) + 0.5), full);
}

static int add_stock(struct doc *doc, const struct study *study, const struct view *view,
                     uint32_t number, size_t samples, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    struct timeline timeline;
    bool people = view->people;

    if (timeline_of(&timeline, &study->history, number, samples, err))
        return -1;
    for (size_t i = 0; i < timeline.count; i++) {
        doc_row_begin(doc);
        if (!people)
            docs_layer(doc, study, view, stock);
        doc_integer(doc, "time_ns", people ? "Time" : NULL, DOC_NS,
                    (int64_t)timeline.samples[i].time_ns);
        doc_bytes(doc, "live_bytes", people ? "Most live" : NULL, timeline.samples[i].max_bytes);
        doc_bytes(doc, "lowest_bytes", NULL, timeline.samples[i].min_bytes);
        if (people)
            add_bar(doc, timeline.samples[i].max_bytes, stock->peak_bytes);
        doc_row_end(doc);
    }
    timeline_release(&timeline);
    return 0;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    enum { PEOPLE_SAMPLES = 40, MACHINE_SAMPLES = 500 };
    const struct own *own = view->own;
    uint32_t stocks[STUDY_STOCKS_MAX];
    size_t count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);
    size_t samples = own->samples ? (size_t)own->samples
                                  : (size_t)(view->people ? PEOPLE_SAMPLES : MACHINE_SAMPLES);

    if (view->people && count) {
        char name[DOCS_NAME_BYTES];

        doc_text(doc, NULL, "layer",
                 docs_layer_name(study, &study->history.stocks[stocks[0]], name));
    }
    doc_list_begin(doc, "timeline", view->people ? "Live over time" : NULL);
    for (size_t i = 0; i < count; i++)
        if (add_stock(doc, study, view, stocks[i], samples, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int command_timeline(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.timeline/1", .device = add_device, .tail = docs_warnings};
    static const struct option_rule rules[] = {
        {"samples", 0, OPTION_COUNT, "N", "points in time (default 40, for machines 500)",
         offsetof(struct own, samples)},
        {0},
    };
    struct own own = {0};
    struct command_options options;

    if (options_parse(&options, rules, &own, argc, argv, err) ||
        answer_check_samples(own.samples, SAMPLES_MOST, err))
        return -1;
    return answer_print(&answer, &options, &own, err);
}
