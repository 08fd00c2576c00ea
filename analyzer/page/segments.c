/* SPDX-License-Identifier: MIT */
/* The segments of a pool, and the blocks in them. */
#include "parts.h"

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/fragmentation/segments.h"

static void add_blocks(struct doc *doc, const struct segment_list *list,
                       const struct pool_segment *segment)
{
    doc_list_begin(doc_detail(doc), "blocks", "Blocks");
    for (size_t i = 0; i < segment->block_count; i++) {
        const struct block *block = list->blocks[segment->first_block + i];

        doc_row_begin(doc);
        doc_integer(doc, "address", "Address", DOC_ADDRESS, (int64_t)block->address);
        doc_bytes(doc, "size_bytes", "Size", block->size_bytes);
        doc_known_count(doc, "forward_stack_id", "Forward stack",
                        site_forward_stack(block->site_id) != 0,
                        site_forward_stack(block->site_id));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_segment_row(struct doc *doc, const struct segment_list *list,
                            const struct pool_segment *segment)
{
    const uint64_t free_bytes =
        segment->size_bytes > segment->live_bytes ? segment->size_bytes - segment->live_bytes : 0;
    doc_row_begin(doc);
    doc_integer(doc, "address", "Address", DOC_ADDRESS, (int64_t)segment->address);
    doc_bytes(doc, "size_bytes", "Size", segment->size_bytes);
    doc_bytes(doc, "live_bytes", "Live", segment->live_bytes);
    doc_bytes(doc, "free_bytes", "Free", free_bytes);
    doc_bytes(doc, "largest_free_bytes", "Largest free", segment->largest_free_bytes);
    doc_bool(doc_detail(doc), "mapped", "Mapped", segment->mapped);
    doc_bool(doc_detail(doc), "of_graph", "Of a CUDA graph", segment->is_of_graph);
    doc_count(doc_summary(doc), NULL, "Blocks", segment->block_count);
    add_blocks(doc, list, segment);
    doc_row_end(doc);
}

int page_segments(struct doc *doc, const struct study *study, const struct device_use *use,
                  const struct view *view, struct err *err)
{
    const uint32_t account = study_account(study, use, view);
    struct moment moment;
    struct segment_list list = {0};
    if (account == HISTORY_NONE || study->history.accounts[account].kind != ACCOUNT_pool) {
        doc_null(doc_detail(doc), "segments", "Segments", DOC_TEXT);
        return 0;
    }
    if (moment_find("at", view->at, &study->history, account, &moment, err) ||
        (moment.index != INDEX_NONE &&
         segments_at(&list, &study->history, account, moment.index, err)))
        return -1;
    doc_list_begin(doc, "segments", "Segments");
    for (size_t i = 0; i < list.count; i++)
        add_segment_row(doc, &list, &list.items[i]);
    doc_list_end(doc);
    segments_release(&list);
    return 0;
}
