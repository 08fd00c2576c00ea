/* SPDX-License-Identifier: MIT */
/* Describes fragmentation at one moment, in figures and in a sentence. */
#include "parts.h"

#include "analyzer/analysis/card.h"
#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/render/units.h"

static void add_moment(struct doc *doc, const struct study *study, const struct view *view,
                       const struct moment *moment)
{
    doc_text(doc, "at", "moment", view->at ? view->at : "peak");
    if (moment->index == INDEX_NONE) {
        doc_null(doc_detail(doc), "time_ns", "time", DOC_NS);
        doc_null(doc_detail(doc), "seq", "event", DOC_COUNT);
        return;
    }
    page_time(doc, study, "time_ns", "time", moment->time_ns);
    doc_count(doc_detail(doc), "seq", "event", moment->seq);
}

/* Says which source the figure of free memory comes from. */
static void add_card_source(struct doc *doc, const struct card_free *card)
{
    if (!card->known)
        doc_null(doc_detail(doc), "device_free_source", "source of free", DOC_TEXT);
    else if (card->is_corrected)
        doc_text(doc_detail(doc), "device_free_source", "source of free",
                 "cuMemGetInfo and the calls since");
    else
        doc_text(doc_detail(doc), "device_free_source", "source of free", "cuMemGetInfo");
}

static void add_card(struct doc *doc, const struct card_free *card)
{
    doc_known_bytes(doc, "device_free_bytes", "free on the card", card->known, card->free_bytes);
    if (card->known) {
        doc_words(doc, "%s, %s", BYTES_TEXT(card->free_bytes),
                  card->is_corrected ? "from the last cuMemGetInfo and this process's calls since"
                                     : "from cuMemGetInfo");
    }
    add_card_source(doc, card);
}

static void add_fragmentation(struct doc *doc, const struct frag *frag, bool known)
{
    const bool reserved_known = known && frag->reserved_known;
    doc_known_bytes(doc, "reserved_bytes", "reserved", reserved_known, frag->reserved_bytes);
    doc_known_bytes(doc, "live_bytes", "live", known, frag->live_bytes);
    doc_known_bytes(doc, "free_bytes", "free", reserved_known, frag->free_bytes);
    doc_known_bytes(doc, "largest_free_bytes", "largest free", reserved_known,
                    frag->largest_free_bytes);
    doc_known_ratio(doc, "external_ratio", "external fragmentation", reserved_known,
                    frag->external_ratio);
    /* Neither the driver nor PyTorch reports the requested bytes of a rounded block. */
    doc_null(doc_detail(doc), "internal_bytes", "internal", DOC_BYTES);
    doc_known_bytes(doc, "stranded_bytes", "stranded", reserved_known, frag->stranded_bytes);
    doc_known_bytes(doc_detail_if(doc, !frag->graph_idle_bytes), "graph_idle_bytes",
                    "held by CUDA graphs", reserved_known, frag->graph_idle_bytes);
}

int page_fragmentation(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    const uint32_t number = study_account(study, use, view);
    struct moment moment;
    struct frag frag = {0};
    struct card_free card = {0};
    if (number == HISTORY_NONE) { /* this device lacks the layer that the user asked for */
        doc_null(doc, "fragmentation", "fragmentation", DOC_TEXT);
        return 0;
    }
    if (moment_find("at", view->at, &study->history, number, &moment, err))
        return -1;
    const bool known = moment.index != INDEX_NONE;
    if (known && (frag_at(&frag, &study->history, number, moment.index, err) ||
                  card_free_at(&card, &study->history, use->device, moment.index, err)))
        return -1;
    const struct account *account = &study->history.accounts[number];
    const bool is_driver = account->kind == ACCOUNT_device;
    doc_object_begin(doc, "fragmentation", "Fragmentation");
    page_layer(doc, study, account, "layer");
    add_moment(doc, study, view, &moment);
    add_fragmentation(doc, &frag, known);
    add_card(doc, &card);
    doc_bool(doc_detail(doc), "estimated", "estimated", is_driver);
    if (is_driver && known)
        doc_note(doc, "Reserved is an estimate here: the distinct 2 MiB granules under live plain "
                      "allocations, and what the driver's pools report.");
    doc_object_end(doc);
    return 0;
}

static void add_fragmentation_note(struct doc *doc, const struct frag *frag, bool is_driver)
{
    if (!frag->reserved_known)
        doc_note(doc, "Fragmentation: the segments behind the pool were not recorded.");
    else if (!frag->free_bytes)
        doc_note(doc, "Fragmentation: none at the peak, because all reserved memory was live.");
    else
        doc_note(doc,
                 "Fragmentation at the peak: %s%s reserved, %s live, %s free in pieces of at most "
                 "%s (external fragmentation %s).",
                 is_driver ? "about " : "", BYTES_TEXT(frag->reserved_bytes),
                 BYTES_TEXT(frag->live_bytes), BYTES_TEXT(frag->free_bytes),
                 BYTES_TEXT(frag->largest_free_bytes), RATIO_TEXT(frag->external_ratio));
}

int page_fragmentation_note(struct doc *doc, const struct study *study,
                            const struct device_use *use, const struct view *view, struct err *err)
{
    const struct account *account = &study->history.accounts[use->leading];
    struct frag frag;
    (void)view;
    if (account->peak.index == INDEX_NONE || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    if (frag_at(&frag, &study->history, use->leading, account->peak.index, err))
        return -1;
    add_fragmentation_note(doc, &frag, account->kind == ACCOUNT_device);
    return 0;
}
