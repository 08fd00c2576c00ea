/* SPDX-License-Identifier: MIT */
/* Fragmentation as a document. */
#include "docs.h"

#include "analyzer/analysis/frag.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/render/units.h"

static void add_moment(struct doc *doc, const struct study *study, const struct view *view,
                       uint32_t index)
{
    doc_text(doc, "at", view->people ? "moment" : NULL, view->at ? view->at : "peak");
    if (index == HISTORY_NONE) {
        doc_null(doc, "time_ns", NULL, DOC_NS);
        doc_null(doc, "seq", NULL, DOC_COUNT);
        return;
    }
    doc_integer(doc, "time_ns", view->people ? "time" : NULL, DOC_NS,
                (int64_t)study_time_ns(study, index));
    doc_count(doc, "seq", NULL, study->trace.events[index].seq);
}

static void add_figures(struct doc *doc, const struct frag *frag, bool known, bool people)
{
    bool reserved_known = known && frag->reserved_known;

    doc_known_bytes(doc, "reserved_bytes", people ? "reserved" : NULL, reserved_known,
                    frag->reserved_bytes);
    doc_known_bytes(doc, "live_bytes", people ? "live" : NULL, known, frag->live_bytes);
    doc_known_bytes(doc, "free_bytes", people ? "free" : NULL, reserved_known, frag->free_bytes);
    doc_known_bytes(doc, "largest_free_bytes", people ? "largest free" : NULL, reserved_known,
                    frag->largest_free_bytes);
    if (reserved_known)
        doc_ratio(doc, "external_ratio", people ? "external fragmentation" : NULL,
                  frag->external_ratio);
    else
        doc_null(doc, "external_ratio", people ? "external fragmentation" : NULL, DOC_RATIO);
    /* Neither the driver nor PyTorch tells what was asked for inside what it rounded. */
    doc_null(doc, "internal_bytes", NULL, DOC_BYTES);
    doc_known_bytes(doc, "stranded_bytes", people ? "stranded" : NULL, reserved_known,
                    frag->stranded_bytes);
    doc_known_bytes(doc, "device_free_bytes", people ? "free on the card" : NULL,
                    known && frag->device_free_known, frag->device_free_bytes);
}

/* One sentence where the whole is one page. */
static void add_sentence(struct doc *doc, const struct frag *frag, bool is_driver)
{
    char reserved[UNITS_TEXT_BYTES], live[UNITS_TEXT_BYTES], idle[UNITS_TEXT_BYTES];
    char hole[UNITS_TEXT_BYTES], ratio[UNITS_TEXT_BYTES];

    units_bytes(reserved, frag->reserved_bytes);
    units_bytes(live, frag->live_bytes);
    units_bytes(idle, frag->free_bytes);
    units_bytes(hole, frag->largest_free_bytes);
    units_ratio(ratio, frag->external_ratio);
    if (!frag->reserved_known)
        doc_note(doc, "Fragmentation: the segments behind the pool were not recorded.");
    else if (!frag->free_bytes)
        doc_note(doc, "Fragmentation: none at the peak; all of what was reserved was live.");
    else
        doc_note(doc,
                 "Fragmentation at the peak: %s%s reserved, %s live, %s free in pieces of at most "
                 "%s (external fragmentation %s).",
                 is_driver ? "about " : "", reserved, live, idle, hole, ratio);
}

int docs_fragmentation_line(struct doc *doc, const struct study *study,
                            const struct device_use *use, const struct view *view, struct err *err)
{
    const struct stock *stock = &study->history.stocks[use->leading];
    struct frag frag;

    (void)view;
    if (stock->peak_index == HISTORY_NONE)
        return 0;
    if (frag_at(&frag, &study->history, use->leading, stock->peak_index, err))
        return -1;
    add_sentence(doc, &frag, stock->account == ACCOUNT_device);
    return 0;
}

int docs_fragmentation(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    uint32_t stock = study_stock(study, use, view), index = HISTORY_NONE;
    struct frag frag = {0};
    bool is_driver;

    if (stock == HISTORY_NONE) { /* the layer that was asked for does not exist here */
        doc_null(doc, "fragmentation", view->people ? "fragmentation" : NULL, DOC_TEXT);
        return 0;
    }
    if (moment_find(view->at, &study->history, stock, &index, err))
        return -1;
    if (index != HISTORY_NONE && frag_at(&frag, &study->history, stock, index, err))
        return -1;
    is_driver = study->history.stocks[stock].account == ACCOUNT_device;
    doc_object_begin(doc, "fragmentation", view->people ? "Fragmentation" : NULL);
    if (view->people) {
        char name[DOCS_NAME_BYTES];

        doc_text(doc, NULL, "layer", docs_layer_name(study, &study->history.stocks[stock], name));
    } else {
        docs_layer(doc, study, view, &study->history.stocks[stock]);
    }
    add_moment(doc, study, view, index);
    add_figures(doc, &frag, index != HISTORY_NONE, view->people);
    doc_bool(doc, "estimated", NULL, is_driver);
    if (view->people && is_driver && index != HISTORY_NONE)
        doc_note(doc, "Reserved is an estimate here: the distinct 2 MiB granules under live plain "
                      "allocations, and what the driver's pools report.");
    doc_object_end(doc);
    return 0;
}
