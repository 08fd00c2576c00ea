/* SPDX-License-Identifier: MIT */
/* The segments of a pool as a document. */
#include "docs.h"

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/segments.h"

/* People get the figures of each segment, machines also every block. */
static void add_segment(struct doc *doc, const struct segment_list *list,
                        const struct segment_view *segment, bool people)
{
    uint64_t free_bytes =
        segment->size_bytes > segment->live_bytes ? segment->size_bytes - segment->live_bytes : 0;

    doc_row_begin(doc);
    doc_integer(doc, "address", people ? "Address" : NULL, DOC_ADDRESS, (int64_t)segment->address);
    doc_bytes(doc, "size_bytes", people ? "Size" : NULL, segment->size_bytes);
    doc_bytes(doc, "live_bytes", people ? "Live" : NULL, segment->live_bytes);
    doc_bytes(doc, "free_bytes", people ? "Free" : NULL, free_bytes);
    doc_bytes(doc, "largest_free_bytes", people ? "Largest free" : NULL,
              segment->largest_free_bytes);
    doc_bool(doc, "mapped", NULL, segment->mapped);
    doc_count(doc, people ? "block_count" : NULL, people ? "Blocks" : NULL, segment->block_count);
    if (!people) {
        doc_list_begin(doc, "blocks", NULL);
        for (size_t i = 0; i < segment->block_count; i++) {
            const struct block *block = list->blocks[segment->first_block + i];

            doc_row_begin(doc);
            doc_integer(doc, "address", NULL, DOC_ADDRESS, (int64_t)block->address);
            doc_bytes(doc, "size_bytes", NULL, block->size_bytes);
            doc_row_end(doc);
        }
        doc_list_end(doc);
    }
    doc_row_end(doc);
}

int docs_segments(struct doc *doc, const struct study *study, const struct device_use *use,
                  const struct view *view, struct err *err)
{
    uint32_t stock = study_stock(study, use, view), index = HISTORY_NONE;
    struct segment_list list = {0};

    if (stock == HISTORY_NONE || study->history.stocks[stock].account != ACCOUNT_pool) {
        doc_null(doc, "segments", NULL, DOC_TEXT);
        return 0;
    }
    if (moment_find(view->at, &study->history, stock, &index, err) ||
        (index != HISTORY_NONE && segments_at(&list, &study->history, stock, index, err)))
        return -1;
    doc_list_begin(doc, "segments", view->people ? "Segments" : NULL);
    for (size_t i = 0; i < list.count; i++)
        add_segment(doc, &list, &list.items[i], view->people);
    doc_list_end(doc);
    segments_release(&list);
    return 0;
}
