/* SPDX-License-Identifier: MIT */
/* Fragmentation at a moment; see frag.h. */
#include "frag.h"

#include <stdlib.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

struct stretch {
    uint64_t start, end;
    bool joins; /* a hole may go on into a stretch that begins where this one ends */
};

struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

static int add_stretch(struct stretches *list, uint64_t start, uint64_t size_bytes, bool joins,
                       struct err *err)
{
    struct stretch *grown =
        array_grow(list->items, &list->capacity, list->count, sizeof *grown, err);

    if (!grown)
        return -1;
    list->items = grown;
    grown[list->count] = (struct stretch){.start = start, .joins = joins};
    if (GMT_ADD_OVERFLOWS(start, size_bytes, &grown[list->count].end))
        grown[list->count].end = UINT64_MAX;
    list->count++;
    return 0;
}

static int compare_stretches(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;

    return (a->start > b->start) - (a->start < b->start);
}

static void sort(struct stretches *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_stretches);
}

/* Joins neighbours that a hole may cross; the list is sorted. */
static void join_neighbours(struct stretches *list)
{
    size_t kept = 0;

    for (size_t i = 1; i < list->count; i++) {
        struct stretch *last = &list->items[kept];
        const struct stretch *next = &list->items[i];

        if (next->start <= last->end && (next->start < last->end || (last->joins && next->joins))) {
            if (next->end > last->end)
                last->end = next->end;
        } else {
            list->items[++kept] = *next;
        }
    }
    if (list->count)
        list->count = kept + 1;
}

struct holes {
    uint64_t total_bytes, largest_bytes;
    uint64_t stranded_bytes; /* in stretches that hold something */
};

static void count_hole(struct holes *holes, uint64_t bytes, uint64_t *in_stretch_bytes)
{
    *in_stretch_bytes += bytes;
    if (bytes > holes->largest_bytes)
        holes->largest_bytes = bytes;
}

/* Counts what no live stretch covers. Both lists are sorted by address. */
static struct holes find_holes(const struct stretches *held, const struct stretches *live)
{
    struct holes holes = {0};
    size_t first = 0;

    for (size_t i = 0; i < held->count; i++) {
        uint64_t at = held->items[i].start, end = held->items[i].end, free_bytes = 0;
        bool used = false;
        size_t j;

        while (first < live->count && live->items[first].end <= at)
            first++;
        for (j = first; j < live->count && live->items[j].start < end; j++) {
            used = true;
            if (live->items[j].start > at)
                count_hole(&holes, live->items[j].start - at, &free_bytes);
            if (live->items[j].end > at)
                at = live->items[j].end;
        }
        if (at < end)
            count_hole(&holes, end - at, &free_bytes);
        holes.total_bytes += free_bytes;
        holes.stranded_bytes += used ? free_bytes : 0;
    }
    return holes;
}

/* --- framework pools --- */

static int measure_pool(struct frag *frag, const struct history *history, uint32_t stock,
                        uint64_t index, struct err *err)
{
    struct live_walk walk = live_walk_begin(history, stock, index), segments = walk;
    struct stretches held = {0}, live = {0};
    const struct segment *segment;
    const struct block *block;
    int status = -1;

    while ((segment = live_walk_next_segment(&segments))) {
        frag->reserved_bytes += segment->size_bytes;
        if (add_stretch(&held, segment->address, segment->size_bytes, segment->mapped, err))
            goto out;
    }
    while ((block = live_walk_next(&walk))) {
        frag->live_bytes += block->size_bytes;
        if (add_stretch(&live, block->address, block->size_bytes, false, err))
            goto out;
    }
    sort(&held);
    sort(&live);
    frag->stranded_bytes = find_holes(&held, &live).stranded_bytes;
    join_neighbours(&held);
    frag->largest_free_bytes = find_holes(&held, &live).largest_bytes;
    status = 0;
out:
    free(held.items);
    free(live.items);
    return status;
}

/* --- the driver --- */

struct driver_parts {
    struct stretches granules, live; /* of plain memory */
    uint64_t other_bytes;            /* reserved to the byte: VMM objects, arrays */
    uint64_t *pooled_bytes;          /* by pool of the driver; the last: of no known pool */
};

static int add_plain(struct driver_parts *parts, const struct block *block, struct err *err)
{
    uint64_t start = block->address & ~(FRAG_GRANULE_BYTES - 1), end;

    if (GMT_ADD_OVERFLOWS(block->address, block->size_bytes, &end) ||
        end > UINT64_MAX - FRAG_GRANULE_BYTES)
        end = UINT64_MAX - FRAG_GRANULE_BYTES;
    end = (end + FRAG_GRANULE_BYTES - 1) & ~(FRAG_GRANULE_BYTES - 1);
    return add_stretch(&parts->granules, start, end - start, true, err) ||
                   add_stretch(&parts->live, block->address, block->size_bytes, false, err)
               ? -1
               : 0;
}

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
        return add_plain(parts, block, err);
    }
}

static int collect_driver_parts(struct driver_parts *parts, struct frag *frag,
                                const struct history *history, uint32_t stock, uint64_t index,
                                struct err *err)
{
    struct live_walk walk = live_walk_begin(history, stock, index);
    const struct block *block;

    while ((block = live_walk_next(&walk))) {
        frag->live_bytes += block->size_bytes;
        if (add_live_block(parts, history, block, err))
            return -1;
    }
    return 0;
}

/* Whether the pool hands out device memory; others hand out managed or host memory. */
static bool is_of_device(const struct mempool *mempool, int device)
{
    return mempool->device == device &&
           (mempool->memory == MEMORY_ASYNC || mempool->memory == MEMORY_GRAPH);
}

/* What each mempool said last at the moment. */
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

/* What the device's pools held when they last reported, and no less than they have handed out. */
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
        if (free_bytes > frag->largest_free_bytes)
            frag->largest_free_bytes = free_bytes;
    }
    free(reserved_bytes);
    return 0;
}

static int measure_driver(struct frag *frag, const struct history *history, uint32_t stock,
                          uint64_t index, struct err *err)
{
    struct driver_parts parts = {
        .pooled_bytes = array_new(history->mempool_count + 1, sizeof *parts.pooled_bytes, err)};
    struct holes holes;
    int status = -1;

    if (!parts.pooled_bytes || collect_driver_parts(&parts, frag, history, stock, index, err))
        goto out;
    sort(&parts.granules);
    sort(&parts.live);
    join_neighbours(&parts.granules);
    holes = find_holes(&parts.granules, &parts.live);
    frag->largest_free_bytes = holes.largest_bytes;
    frag->stranded_bytes = holes.stranded_bytes;
    frag->reserved_bytes = parts.other_bytes;
    for (size_t i = 0; i < parts.granules.count; i++)
        frag->reserved_bytes += parts.granules.items[i].end - parts.granules.items[i].start;
    status = add_mempool_bytes(frag, history, history->stocks[stock].device, index,
                               parts.pooled_bytes, err);
out:
    free(parts.pooled_bytes);
    free(parts.granules.items);
    free(parts.live.items);
    return status;
}

/* --- both --- */

int frag_at(struct frag *frag, const struct history *history, uint32_t stock, uint64_t index,
            struct err *err)
{
    const struct stock *owner = &history->stocks[stock];
    const struct memory_sample *sample = history_sample_at(history, owner->device, index);

    *frag = (struct frag){0};
    if (owner->account == ACCOUNT_pool ? measure_pool(frag, history, stock, index, err)
                                       : measure_driver(frag, history, stock, index, err))
        return -1;
    frag->device_free_known = sample != NULL;
    frag->device_free_bytes = sample ? sample->free_bytes : 0;
    frag->reserved_known = frag->reserved_bytes >= frag->live_bytes;
    if (!frag->reserved_known) {
        frag->reserved_bytes = frag->largest_free_bytes = frag->stranded_bytes = 0;
        return 0;
    }
    frag->free_bytes = frag->reserved_bytes - frag->live_bytes;
    if (frag->free_bytes && frag->largest_free_bytes < frag->free_bytes)
        frag->external_ratio = 1 - (double)frag->largest_free_bytes / (double)frag->free_bytes;
    return 0;
}

bool frag_peak_reserved(const struct stock *stock, uint64_t *bytes)
{
    *bytes = stock->peak_reserved_bytes;
    return stock->has_segments && stock->peak_reserved_bytes >= stock->peak_bytes;
}
