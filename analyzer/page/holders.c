/* SPDX-License-Identifier: MIT */
/* The variables that keep memory alive: a list and a sentence; see parts.h. */
#include "parts.h"

#include "analyzer/render/units.h"
#include "holders/kept_by.h"
#include "holders/words.h"

/* --- the list --- */

static void add_place(struct doc *doc, const struct trace *trace, const struct held_sum *sum)
{
    const uint32_t id = sum->holder ? sum->holder->location_id : 0;
    const struct trace_location *at =
        id && id < trace->location_limit ? &trace->locations[id] : NULL;
    doc_text(doc, "function", "Function", at ? trace_string(trace, at->function_id) : NULL);
    doc_text(doc, "file", "File", at ? trace_string(trace, at->file_id) : NULL);
    doc_known_count(doc, "line", "Line", at && at->line, at ? at->line : 0);
}

static void add_detail(struct doc *doc, const struct study *study, uint32_t account,
                       const struct held_sums *sums, const struct held_sum *sum)
{
    const struct trace_holder *holder = sum->holder;
    page_layer(doc, study, &study->history.accounts[account], "Layer");
    doc_bytes(doc, "bytes", "Bytes", sum->bytes);
    doc_count(doc, "count", "Blocks", sum->count);
    doc_text(doc, "chain", "Kept by",
             holder ? trace_string(&study->trace, holder->chain_id) : NULL);
    doc_text(doc, "kind", "Kind", holder ? holder->kind : NULL);
    doc_known_count(doc, "items_count", "Items", sum->items_count != 0, sum->items_count);
    add_place(doc, &study->trace, sum);
    doc_text(doc, "walk_reason", "Walk", sums->at->walk->reason);
    doc_count(doc, "walk_seq", "Walk after", sums->at->at.seq);
    doc_text(doc, "walk_stopped", "Walk stopped by", sums->at->walk->stopped);
}

static void add_summary(struct doc *doc, const struct study *study, const struct held_sums *sums,
                        const struct held_sum *sum)
{
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES];
    const double share = sums->bytes ? (double)sum->bytes / (double)sums->bytes : 0;
    doc_bytes(doc, NULL, "Bytes", sum->bytes);
    doc_ratio(doc, NULL, "Share", share);
    doc_bar(doc, share, 0);
    doc_count(doc, NULL, "Blocks", sum->count);
    doc_textf(doc, NULL, "Kept by", "%s%s", holder_name(name, &study->trace, sum),
              holder_place(place, &study->trace, sum));
}

static void add_rows(struct doc *doc, const struct study *study,
                     const struct page_holder_list *list, const struct held_sums *sums,
                     const struct held_ask *ask, bool is_first)
{
    const size_t most = is_first && doc_takes(doc, DOC_SUMMARY) ? list->summary_rows : 0;
    for (size_t i = 0; i < sums->count && i < most; i++) {
        doc_row_begin(doc_summary(doc));
        add_summary(doc, study, sums, &sums->items[i]);
        doc_row_end(doc);
    }
    if (sums->count && most)
        page_kept_note(doc, sums);
    for (size_t i = 0; i < sums->count && doc_takes(doc, DOC_DETAIL); i++) {
        doc_row_begin(doc_detail(doc));
        add_detail(doc, study, ask->account, sums, &sums->items[i]);
        doc_row_end(doc);
    }
}

int page_holders(struct doc *doc, const struct study *study, const struct page_holder_list *list,
                 const struct held_ask asks[], size_t count, struct err *err)
{
    struct held_sums sums;
    if (!page_has_holders(study))
        return 0;
    doc_list_begin(doc, list->key, list->heading);
    for (size_t i = 0; i < count && doc_takes(doc, DOC_BOTH); i++) {
        if (held_sums_find(&sums, &study->holders, &study->history, &asks[i], err))
            return -1;
        add_rows(doc, study, list, &sums, &asks[i], i == 0);
        held_sums_release(&sums);
    }
    doc_list_end(doc);
    return 0;
}

/* --- the sentence --- */

int page_say_holder(struct opening *opening, const struct study *study, const struct held_sum *sum,
                    uint64_t of_bytes, const struct walk_blocks *walk)
{
    char name[HOLDER_TEXT_BYTES], place[HOLDER_TEXT_BYTES], when[WALK_TEXT_BYTES];
    char limit[WALK_TEXT_BYTES];
    return page_say(opening, VERDICT_who, "Kept by %s%s: %s of %s %s.%s",
                    holder_name(name, &study->trace, sum), holder_place(place, &study->trace, sum),
                    BYTES_TEXT(sum->bytes), BYTES_TEXT(of_bytes), walk_words(when, walk),
                    walk_limit(limit, walk));
}
