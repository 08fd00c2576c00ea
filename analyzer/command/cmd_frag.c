/* SPDX-License-Identifier: MIT */
/* `gpumemtrace frag`: fragmentation at a moment, at each failure, over time. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/frag.h"

enum { SAMPLES_MOST = 10000 };

struct own {
    long samples;
    bool segments;
};

static int add_row(struct doc *doc, const struct study *study, const struct view *view,
                   uint32_t stock, uint32_t index, struct err *err)
{
    bool people = view->people;
    struct frag frag;

    if (frag_at(&frag, &study->history, stock, index, err))
        return -1;
    doc_row_begin(doc);
    doc_integer(doc, "time_ns", people ? "Time" : NULL, DOC_NS,
                (int64_t)study_time_ns(study, index));
    doc_count(doc, "seq", people ? "Event" : NULL, study->trace.events[index].seq);
    docs_layer(doc, study, view, &study->history.stocks[stock]);
    doc_known_bytes(doc, "reserved_bytes", people ? "Reserved" : NULL, frag.reserved_known,
                    frag.reserved_bytes);
    doc_bytes(doc, "live_bytes", people ? "Live" : NULL, frag.live_bytes);
    doc_known_bytes(doc, "free_bytes", people ? "Free" : NULL, frag.reserved_known,
                    frag.free_bytes);
    doc_known_bytes(doc, "largest_free_bytes", people ? "Largest free" : NULL, frag.reserved_known,
                    frag.largest_free_bytes);
    if (frag.reserved_known)
        doc_ratio(doc, "external_ratio", people ? "External" : NULL, frag.external_ratio);
    else
        doc_null(doc, "external_ratio", people ? "External" : NULL, DOC_RATIO);
    doc_known_bytes(doc, "stranded_bytes", people ? "Stranded" : NULL, frag.reserved_known,
                    frag.stranded_bytes);
    doc_row_end(doc);
    return 0;
}

static int add_failures(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, uint32_t stock, struct err *err)
{
    const struct history *history = &study->history;
    bool any = false;

    for (size_t i = 0; i < history->failure_count; i++)
        any |= history->stocks[history->failures[i].stock].device == use->device;
    if (view->people && !any)
        return 0;
    doc_list_begin(doc, "at_failures", view->people ? "At failed allocations" : NULL);
    for (size_t i = 0; i < history->failure_count; i++)
        if (history->stocks[history->failures[i].stock].device == use->device &&
            add_row(doc, study, view, stock, history->failures[i].event, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

/* Evenly spaced in events: where nothing happens nothing changes. */
static int add_samples(struct doc *doc, const struct study *study, const struct view *view,
                       uint32_t stock, struct err *err)
{
    const struct own *own = view->own;
    uint64_t count = study->history.event_count, samples = (uint64_t)own->samples;

    doc_list_begin(doc, "over_time", view->people ? "Over time" : NULL);
    for (uint64_t i = 1; i <= samples; i++) {
        uint64_t index = count * i / samples;

        if (index == count * (i - 1) / samples)
            continue;
        if (add_row(doc, study, view, stock, (uint32_t)(index - 1), err))
            return -1;
    }
    doc_list_end(doc);
    return 0;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    const struct own *own = view->own;
    uint32_t stock = study_stock(study, use, view);

    if (own->segments && docs_segments(doc, study, use, view, err))
        return -1;
    if (stock == HISTORY_NONE)
        return docs_fragmentation(doc, study, use, view, err);
    return docs_fragmentation(doc, study, use, view, err) ||
                   add_failures(doc, study, use, view, stock, err) ||
                   add_samples(doc, study, view, stock, err)
               ? -1
               : 0;
}

int command_frag(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.frag/1", .device = add_device, .tail = docs_warnings};
    static const struct option_rule rules[] = {
        {"samples", 0, OPTION_COUNT, "N", "moments in the list over time (default 10)",
         offsetof(struct own, samples)},
        {"segments", 0, OPTION_FLAG, NULL, "each segment of a framework pool; in JSON, its blocks",
         offsetof(struct own, segments)},
        {0},
    };
    struct own own = {.samples = 10};
    struct command_options options;

    if (options_parse(&options, rules, &own, argc, argv, err) ||
        answer_check_samples(own.samples, SAMPLES_MOST, err))
        return -1;
    return answer_print(&answer, &options, &own, err);
}
