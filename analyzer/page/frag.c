/* SPDX-License-Identifier: MIT */
/* The page of `frag`: fragmentation at a moment, at each failure, over time. */
#include "parts.h"

#include <inttypes.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "whatif.h"

static int add_frag_row(struct doc *doc, const struct study *study, uint32_t account,
                        const struct moment *moment, struct err *err)
{
    const struct account *own = &study->history.accounts[account];
    struct frag frag;
    if (frag_at(&frag, &study->history, account, moment->index, err))
        return -1;
    doc_row_begin(doc);
    page_time(doc, study, "time_ns", "Time", moment->time_ns);
    doc_count(doc_spare(doc), "seq", "Event", moment->seq);
    page_layer(doc, study, own, "Layer");
    doc_known_bytes(doc, "reserved_bytes", "Reserved", frag.reserved_known, frag.reserved_bytes);
    doc_known_bytes(doc, "live_bytes", "Live", history_knows(&study->history, own),
                    frag.live_bytes);
    doc_known_bytes(doc, "free_bytes", "Free", frag.reserved_known, frag.free_bytes);
    doc_known_bytes(doc, "largest_free_bytes", "Largest free", frag.reserved_known,
                    frag.largest_free_bytes);
    doc_known_ratio(doc_spare(doc), "external_ratio", "External", frag.reserved_known,
                    frag.external_ratio);
    doc_known_bytes(doc, "stranded_bytes", "Stranded", frag.reserved_known, frag.stranded_bytes);
    doc_row_end(doc);
    return 0;
}

static int add_frag_at_failures(struct doc *doc, const struct study *study,
                                const struct device_use *use, uint32_t account, struct err *err)
{
    const struct history *history = &study->history;
    doc_list_begin(doc, "at_failures", "At failed allocations");
    for (size_t i = 0; i < history->failure_count; i++)
        if (history->accounts[history->failures[i].account].device == use->device &&
            add_frag_row(doc, study, account, &history->failures[i].at, err))
            return -1;
    if (history->failures_in_all > history->failure_count)
        doc_note(doc, "The first and the last %d of %" PRIu64 " failed allocations are shown.",
                 FAILURES_AT_EACH_END, history->failures_in_all);
    doc_list_end(doc);
    return 0;
}

/* Adds fragmentation over time. The moments are evenly spaced in events, because fragmentation
 * changes only at events. */
static int add_frag_over_time(struct doc *doc, const struct study *study, uint32_t account,
                              struct err *err)
{
    doc_list_begin(doc, "over_time", "Over time");
    for (size_t i = 0; i < study->history.stop_count; i++)
        if (add_frag_row(doc, study, account, &study->history.stops[i], err))
            return -1;
    doc_list_end(doc);
    return 0;
}

static int add_frag_of_device(struct doc *doc, const struct study *study,
                              const struct device_use *use, const struct view *view,
                              struct err *err)
{
    const struct page_frag_options *options = view->own;
    const uint32_t account = study_account(study, use, view);
    if (page_what_if(doc, study, use, view, err) ||
        (options->segments && page_segments(doc, study, use, view, err)))
        return -1;
    if (page_fragmentation(doc, study, use, view, err))
        return -1;
    if (page_pins(doc, study, use, view, err))
        return -1;
    if (account == HISTORY_NONE)
        return 0;
    return add_frag_at_failures(doc, study, use, account, err) ||
                   add_frag_over_time(doc, study, account, err)
               ? -1
               : 0;
}

static void ask_frag(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    const struct page_frag_options *options = view->own;
    (void)doc;
    ask->stop_count = (size_t)options->samples;
    if (options->what_if) {
        ask->whatifs = &options->ask;
        ask->whatif_count = 1;
    }
}

const struct page page_frag = {.schema = "gpumemtrace.frag/1",
                               .ask = ask_frag,
                               .answer = page_frag_answer,
                               .device = add_frag_of_device,
                               .tail = page_warnings};
