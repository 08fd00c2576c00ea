/* SPDX-License-Identifier: MIT */
/* Fragmentation at a moment; see frag.h. */
#include "frag.h"

#include <stdlib.h>

#include "stretches.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

/* --- framework pools --- */

/* Collects the pool's segments. Segments of CUDA graphs get a list of their own, because their free
 * bytes are neither idle nor stranded. */
static int collect_pool(struct frag *frag, struct stretches *held, struct stretches *of_graphs,
                        struct stretches *live, const struct live_walk *from, struct err *err)
{
    struct live_walk walk = *from, segments = *from;
    const struct segment *segment;
    const struct block *block;
    while ((segment = live_walk_next_segment(&segments))) {
        struct stretches *list = segment_is_of_graph(segment, from->index) ? of_graphs : held;

        frag->reserved_bytes += segment->size_bytes;
        if (stretches_add(list, segment->address, segment->size_bytes, segment->mapped, err))
            return -1;
    }
    while ((block = live_walk_next(&walk))) {
        frag->live_bytes += block->size_bytes;
        if (stretches_add(live, block->address, block->size_bytes, false, err))
            return -1;
    }
    return stretches_sort(held, err) || stretches_sort(of_graphs, err) || stretches_sort(live, err)
               ? -1
               : 0;
}

static int measure_pool(struct frag *frag, const struct history *history, uint32_t account,
                        uint64_t index, struct err *err)
{
    const struct live_walk walk = live_walk_begin(history, account, index);
    struct stretches held = {0}, of_graphs = {0}, live = {0};
    const int status = collect_pool(frag, &held, &of_graphs, &live, &walk, err);
    if (!status) {
        frag->graph_idle_bytes = holes_between(&of_graphs, &live).total_bytes;
        frag->stranded_bytes = holes_between(&held, &live).stranded_bytes;
        stretches_join(&held);
        frag->largest_free_bytes = holes_between(&held, &live).largest_bytes;
    }
    stretches_release(&held);
    stretches_release(&of_graphs);
    stretches_release(&live);
    return status;
}

/* --- the driver --- */

struct driver_parts {
    struct stretches live;  /* plain memory */
    uint64_t other_bytes;   /* VMM objects and arrays, whose reserved size is exact */
    uint64_t *pooled_bytes; /* by pool of the driver; the last item is for an unknown pool */
};

static int add_live_block(struct driver_parts *parts, const struct history *history,
                          const struct block *block, struct err *err)
{
    switch (block->memory) {
    case MEMORY_VMM:
    case MEMORY_ARRAY:
        parts->other_bytes += block->size_bytes;
        return 0;
    case MEMORY_ASYNC:
    case MEMORY_GRAPH:
        parts->pooled_bytes[block->mempool == HISTORY_NONE ? history->mempool_count
                                                           : block->mempool] += block->size_bytes;
        return 0;
    default:
        return stretches_add(&parts->live, block->address, block->size_bytes, false, err);
    }
}

static int collect_driver_parts(struct driver_parts *parts, struct frag *frag,
                                const struct history *history, uint32_t account, uint64_t index,
                                struct err *err)
{
    struct live_walk walk = live_walk_begin(history, account, index);
    const struct block *block;
    while ((block = live_walk_next(&walk))) {
        frag->live_bytes += block->size_bytes;
        if (add_live_block(parts, history, block, err))
            return -1;
    }
    return 0;
}

/* Adds the 2 MiB granules of the card that plain memory touches. `live` is sorted. */
static int add_granules(struct stretches *granules, const struct stretches *live, struct err *err)
{
    const uint64_t last = UINT64_MAX - (FRAG_GRANULE_BYTES - 1);
    for (size_t i = 0; i < live->count; i++) {
        uint64_t start = live->items[i].start & ~(FRAG_GRANULE_BYTES - 1);
        uint64_t end = live->items[i].end < last ? live->items[i].end : last;

        end = (end + FRAG_GRANULE_BYTES - 1) & ~(FRAG_GRANULE_BYTES - 1);
        if (stretches_add(granules, start, end - start, true, err))
            return -1;
    }
    stretches_join(granules);
    return 0;
}

/* True if the pool hands out device memory; other pools hand out managed or host memory. */
static bool is_of_device(const struct mempool *mempool, int device)
{
    return mempool->device == device &&
           (mempool->memory == MEMORY_ASYNC || mempool->memory == MEMORY_GRAPH);
}

/* Finds for each mempool the usage that it had last reported by the moment. */
static void find_reserved(const struct history *history, uint64_t index, uint64_t *reserved_bytes)
{
    const struct mempool_usage *ended = history->ended_usages.items;
    for (size_t i = 0; i < history->mempool_count; i++) {
        const struct mempool *mempool = &history->mempools[i];

        if (mempool->reported && life_covers(&mempool->usage.life, index))
            reserved_bytes[i] = mempool->usage.reserved_bytes;
    }
    for (size_t i = 0; i < history->ended_usages.count; i++)
        if (life_covers(&ended[i].life, index))
            reserved_bytes[ended[i].mempool] = ended[i].reserved_bytes;
}

/* Adds the bytes that the device's mempools reported last. If a mempool has handed out more than it
 * reported, adds what it has handed out. */
static int add_mempool_bytes(struct frag *frag, const struct history *history, int device,
                             uint64_t index, const uint64_t *pooled_bytes, struct err *err)
{
    uint64_t *reserved_bytes = array_new(history->mempool_count + 1, sizeof *reserved_bytes, err);
    if (!reserved_bytes)
        return -1;
    find_reserved(history, index, reserved_bytes);
    for (size_t i = 0; i <= history->mempool_count; i++) {
        uint64_t free_bytes = 0;

        if (i < history->mempool_count && is_of_device(&history->mempools[i], device) &&
            reserved_bytes[i] > pooled_bytes[i])
            free_bytes = reserved_bytes[i] - pooled_bytes[i];
        frag->reserved_bytes += pooled_bytes[i] + free_bytes;
        frag->mempools_free_bytes += free_bytes;
        if (i < history->mempool_count && history->mempools[i].memory == MEMORY_GRAPH)
            frag->graph_mempool_free_bytes += free_bytes;
        if (free_bytes > frag->largest_free_bytes)
            frag->largest_free_bytes = free_bytes;
    }
    free(reserved_bytes);
    return 0;
}

int frag_mempool_free(uint64_t *bytes, const struct history *history, uint32_t account,
                      uint64_t handle, uint64_t index, struct err *err)
{
    uint64_t *reserved_bytes = array_new(history->mempool_count + 1, sizeof *reserved_bytes, err);
    struct live_walk walk = live_walk_begin(history, account, index);
    const struct block *block;
    size_t number = history->mempool_count;
    if (!reserved_bytes)
        return -1;
    /* A handle may have belonged to an earlier pool. */
    while (number > 0 && history->mempools[number - 1].handle != handle)
        number--;
    find_reserved(history, index, reserved_bytes);
    *bytes = number ? reserved_bytes[number - 1] : 0;
    free(reserved_bytes);
    while (number && (block = live_walk_next(&walk)))
        if (block->mempool == number - 1)
            *bytes -= block->size_bytes < *bytes ? block->size_bytes : *bytes;
    return 0;
}

static int measure_driver(struct frag *frag, const struct history *history, uint32_t account,
                          uint64_t index, struct err *err)
{
    struct driver_parts parts = {
        .pooled_bytes = array_new(history->mempool_count + 1, sizeof *parts.pooled_bytes, err)};
    struct stretches granules = {0};
    struct holes holes;
    int status = -1;
    if (!parts.pooled_bytes || collect_driver_parts(&parts, frag, history, account, index, err) ||
        stretches_sort(&parts.live, err) || add_granules(&granules, &parts.live, err))
        goto out;
    holes = holes_between(&granules, &parts.live);
    frag->largest_free_bytes = holes.largest_bytes;
    frag->stranded_bytes = holes.stranded_bytes;
    frag->reserved_bytes = parts.other_bytes;
    for (size_t i = 0; i < granules.count; i++)
        frag->reserved_bytes += granules.items[i].end - granules.items[i].start;
    status = add_mempool_bytes(frag, history, history->accounts[account].device, index,
                               parts.pooled_bytes, err);
out:
    free(parts.pooled_bytes);
    stretches_release(&granules);
    stretches_release(&parts.live);
    return status;
}

/* --- one account --- */

/* False if an imported trace has no segments or no driver calls. A figure of 0 would be a guess in
 * this case. */
static bool is_reported(const struct history *history, const struct account *account)
{
    return account->kind == ACCOUNT_pool ? account->has_segments || !history_is_imported(history)
                                         : history_knows(history, account);
}

int frag_at(struct frag *frag, const struct history *history, uint32_t account, uint64_t index,
            struct err *err)
{
    const struct account *owner = &history->accounts[account];
    *frag = (struct frag){0};
    if (owner->kind == ACCOUNT_pool ? measure_pool(frag, history, account, index, err)
                                    : measure_driver(frag, history, account, index, err))
        return -1;
    frag->reserved_known = is_reported(history, owner) && frag->reserved_bytes >= frag->live_bytes;
    if (!frag->reserved_known) {
        frag->reserved_bytes = frag->largest_free_bytes = frag->stranded_bytes = 0;
        frag->graph_idle_bytes = 0;
        frag->mempools_free_bytes = frag->graph_mempool_free_bytes = 0;
        return 0;
    }
    frag->free_bytes = frag->reserved_bytes - frag->live_bytes;
    frag->free_bytes -=
        frag->graph_idle_bytes < frag->free_bytes ? frag->graph_idle_bytes : frag->free_bytes;
    if (frag->stranded_bytes > frag->free_bytes) /* some blocks lie outside of known segments */
        frag->stranded_bytes = frag->free_bytes;
    if (frag->free_bytes && frag->largest_free_bytes < frag->free_bytes)
        frag->external_ratio = 1 - (double)frag->largest_free_bytes / (double)frag->free_bytes;
    return 0;
}

bool frag_peak_reserved(const struct account *account, uint64_t *bytes)
{
    *bytes = account->peak_reserved_bytes;
    return account->has_segments && account->peak_reserved_bytes >= account->peak_bytes;
}
