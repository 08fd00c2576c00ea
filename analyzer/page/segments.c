/* SPDX-License-Identifier: MIT */
/* The segments of a pool, and the blocks in them. */
#include "parts.h"

#include <string.h>

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/segments.h"
#include "analyzer/whatif/holes.h"

static void add_blocks(struct doc *doc, const struct segment_list *list,
                       const struct pool_segment *segment)
{
    doc_list_begin(doc_detail(doc), "blocks", "Blocks");
    for (size_t i = 0; i < segment->block_count; i++) {
        const struct block *block = list->blocks[segment->first_block + i];

        doc_row_begin(doc);
        doc_integer(doc, "address", "Address", DOC_ADDRESS, (int64_t)block->address);
        doc_bytes(doc, "size_bytes", "Size", block->size_bytes);
        doc_known_count(doc, "forward_stack_id", "Forward stack", block->forward_stack_id != 0,
                        block->forward_stack_id);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Only for PyTorch's pool is it known which holes were skipped, and why. */
static const char *why_skipped(const struct hole *hole)
{
    static const char *const reasons[] = {
        [ALLOCATOR_NOT_SKIPPED] = NULL,
        [ALLOCATOR_OTHER_STREAM] = "other stream",
        [ALLOCATOR_OF_GRAPH] = "graph",
        [ALLOCATOR_WAITS_FOR_EVENT] = "waiting for an event, or of a MemPool",
    };

    return hole ? reasons[hole->skipped] : NULL;
}

static void add_hole(struct doc *doc, const struct hole_list *skipped, uint64_t address,
                     uint64_t bytes)
{
    const struct hole *hole = holes_at(skipped, address, bytes);

    doc_row_begin(doc);
    doc_integer(doc, "address", "Address", DOC_ADDRESS, (int64_t)address);
    doc_bytes(doc, "size_bytes", "Size", bytes);
    doc_text(doc, "not_reusable", "Not reusable", why_skipped(hole));
    doc_known_bytes(doc, "passed_over_bytes", "Passed over for", hole,
                    hole ? hole->skipped_bytes : 0);
    doc_row_end(doc);
}

/* Adds each hole if doc is given. Returns the bytes of the skipped holes; *why: the reason of the
 * largest one. */
static uint64_t walk_holes(struct doc *doc, const struct segment_list *list,
                           const struct pool_segment *segment, const struct hole_list *skipped,
                           const char **why)
{
    const uint64_t end = segment->address + segment->size_bytes;
    uint64_t at = segment->address, sum_bytes = 0, most_bytes = 0;

    *why = NULL;
    for (size_t i = 0; i <= segment->block_count; i++) {
        const struct block *block =
            i < segment->block_count ? list->blocks[segment->first_block + i] : NULL;
        const uint64_t to = block ? block->address : end;

        if (to > at && doc)
            add_hole(doc, skipped, at, to - at);
        if (to > at && why_skipped(holes_at(skipped, at, to - at))) {
            sum_bytes += to - at;
            if (to - at > most_bytes) {
                most_bytes = to - at;
                *why = why_skipped(holes_at(skipped, at, to - at));
            }
        }
        if (block && block->address + block->size_bytes > at)
            at = block->address + block->size_bytes;
    }
    return sum_bytes;
}

static void add_holes(struct doc *doc, const struct segment_list *list,
                      const struct pool_segment *segment, const struct hole_list *skipped)
{
    const char *why;
    const uint64_t bytes = walk_holes(NULL, list, segment, skipped, &why);

    doc_known_bytes(doc_detail(doc), "not_reusable_bytes", "Not reusable", skipped->is_known,
                    bytes);
    doc_text(doc_summary(doc), NULL, "Not reusable", why);
    doc_list_begin(doc_detail(doc), "holes", "Holes");
    walk_holes(doc, list, segment, skipped, &why);
    doc_list_end(doc);
}

static void add_segment_row(struct doc *doc, const struct segment_list *list,
                            const struct pool_segment *segment, const struct hole_list *skipped)
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
    add_holes(doc, list, segment, skipped);
    add_blocks(doc, list, segment);
    doc_row_end(doc);
}

static int find_skipped(struct hole_list *skipped, const struct study *study,
                        const struct account *account, uint64_t index, struct err *err)
{
    const char *pool = study_pool(study, account);

    return pool && !strcmp(pool, "pytorch")
               ? holes_find(skipped, study->trace.path, account->device, index, err)
               : 0;
}

int page_segments(struct doc *doc, const struct study *study, const struct device_use *use,
                  const struct view *view, struct err *err)
{
    const uint32_t account = study_account(study, use, view);
    struct moment moment;
    struct segment_list list = {0};
    struct hole_list skipped = {0};

    if (account == HISTORY_NONE || study->history.accounts[account].kind != ACCOUNT_pool) {
        doc_null(doc_detail(doc), "segments", "Segments", DOC_TEXT);
        return 0;
    }
    if (moment_find("at", view->at, &study->history, account, &moment, err) ||
        (moment.index != INDEX_NONE &&
         segments_at(&list, &study->history, account, moment.index, err)))
        return -1;
    if (moment.index != INDEX_NONE &&
        find_skipped(&skipped, study, &study->history.accounts[account], moment.index, err)) {
        segments_release(&list);
        return -1;
    }
    doc_list_begin(doc, "segments", "Segments");
    for (size_t i = 0; i < list.count; i++)
        add_segment_row(doc, &list, &list.items[i], &skipped);
    doc_list_end(doc);
    segments_release(&list);
    holes_release(&skipped);
    return 0;
}
