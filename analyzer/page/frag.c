/* SPDX-License-Identifier: MIT */
/* The page of `frag`: fragmentation at a moment, at each failure, over time. */
#include "parts.h"

#include "analyzer/analysis/frag.h"

static int add_frag_row(struct doc *doc, const struct study *study, uint32_t stock, uint32_t index,
                        struct err *err)
{
    struct frag frag;

    if (frag_at(&frag, &study->history, stock, index, err))
        return -1;
    doc_row_begin(doc);
    doc_integer(doc, "time_ns", "Time", DOC_NS, (int64_t)study_time_ns(study, index));
    doc_count(doc, "seq", "Event", study->trace.events[index].seq);
    page_layer(doc, study, &study->history.stocks[stock], "Layer");
    doc_known_bytes(doc, "reserved_bytes", "Reserved", frag.reserved_known, frag.reserved_bytes);
    doc_bytes(doc, "live_bytes", "Live", frag.live_bytes);
    doc_known_bytes(doc, "free_bytes", "Free", frag.reserved_known, frag.free_bytes);
    doc_known_bytes(doc, "largest_free_bytes", "Largest free", frag.reserved_known,
                    frag.largest_free_bytes);
    doc_known_ratio(doc, "external_ratio", "External", frag.reserved_known, frag.external_ratio);
    doc_known_bytes(doc, "stranded_bytes", "Stranded", frag.reserved_known, frag.stranded_bytes);
    doc_row_end(doc);
    return 0;
}

static int add_frag_at_failures(struct doc *doc, const struct study *study,
                                const struct device_use *use, uint32_t stock, struct err *err)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "at_failures", "At failed allocations");
    for (size_t i = 0; i < history->failure_count; i++)
        if (history->stocks[history->failures[i].stock].device == use->device &&
            add_frag_row(doc, study, stock, history->failures[i].event, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

/* Evenly spaced in events: where nothing happens nothing changes. */
static int add_frag_over_time(struct doc *doc, const struct study *study, uint32_t stock,
                              uint64_t samples, struct err *err)
{
    const uint64_t count = study->history.event_count;

    doc_list_begin(doc, "over_time", "Over time");
    for (uint64_t i = 1; i <= samples; i++) {
        const uint64_t index = count * i / samples;

        if (index != count * (i - 1) / samples &&
            add_frag_row(doc, study, stock, (uint32_t)(index - 1), err))
            return -1;
    }
    doc_list_end(doc);
    return 0;
}

static int add_frag_of_device(struct doc *doc, const struct study *study,
                              const struct device_use *use, const struct view *view,
                              struct err *err)
{
    const struct page_frag_options *options = view->own;
    const uint32_t stock = study_stock(study, use, view);

    if (options->segments && page_segments(doc, study, use, view, err))
        return -1;
    if (page_fragmentation(doc, study, use, view, err))
        return -1;
    if (stock == HISTORY_NONE)
        return 0;
    return add_frag_at_failures(doc, study, use, stock, err) ||
                   add_frag_over_time(doc, study, stock, (uint64_t)options->samples, err)
               ? -1
               : 0;
}

const struct page page_frag = {
    .schema = "gpumemtrace.frag/1", .device = add_frag_of_device, .tail = page_warnings};
