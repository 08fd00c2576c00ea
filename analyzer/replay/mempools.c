/* SPDX-License-Identifier: MIT */
/* Mempools by handle; see mempools.h. */
#include "mempools.h"

#include "analyzer/util/array.h"
#include "memory_rules.h"
#include "analyzer/replay/history/past.h"

/* Spaces of the map `numbers`. */
enum { BY_HANDLE, BY_GRAPH_DEVICE };

void mempools_release(struct mempools *mempools)
{
    pair_map_release(&mempools->numbers);
}

static uint32_t add_mempool(struct mempools *mempools, const struct cursor *at, uint32_t space,
                            uint64_t key, unsigned memory)
{
    struct history *history = at->history;
    uint32_t number = (uint32_t)history->mempool_count;
    if (ARRAY_GROW(history->mempools, history->mempool_capacity, number, at->err))
        return HISTORY_NONE;
    if (pair_map_put(&mempools->numbers, space, key, number, at->err))
        return HISTORY_NONE;
    history->mempools[history->mempool_count++] = (struct mempool){
        .device = at->event->device, .handle = at->event->object, .memory = (uint8_t)memory};
    return number;
}

/* Learns the device of a mempool from a later event. The first event of a mempool often sets an
 * attribute, and such an event does not name the device. */
static void learn_device(const struct cursor *at, uint32_t number)
{
    struct mempool *mempool = &at->history->mempools[number];
    if (mempool->device == DEVICE_UNKNOWN)
        mempool->device = at->event->device;
}

uint32_t mempools_find(struct mempools *mempools, const struct cursor *at)
{
    uint64_t handle = at->event->object;
    uint32_t number = pair_map_get(&mempools->numbers, BY_HANDLE, handle);
    if (number != PAIR_MAP_NONE) {
        learn_device(at, number);
        return number;
    }
    return add_mempool(mempools, at, BY_HANDLE, handle, MEMORY_ASYNC);
}

uint32_t mempools_find_graph(struct mempools *mempools, const struct cursor *at)
{
    uint64_t slot = (uint64_t)DEVICE_SLOT(at->event->device);
    uint32_t number = pair_map_get(&mempools->numbers, BY_GRAPH_DEVICE, slot);
    if (number != PAIR_MAP_NONE)
        return number;
    return add_mempool(mempools, at, BY_GRAPH_DEVICE, slot, MEMORY_GRAPH);
}

/* The handle may belong to a destroyed mempool; from now on it means the new one. */
int mempools_create(struct mempools *mempools, const struct cursor *at)
{
    const struct event *event = at->event;
    const struct memory_rule *rule = &memory_rules[event->memory];
    bool is_async = rule->space == SPACE_DEVICE && !rule->is_bound;
    unsigned memory = is_async ? event->memory : MEMORY_ASYNC;
    if (event->result != 0)
        return 0;
    return add_mempool(mempools, at, BY_HANDLE, event->object, memory) == HISTORY_NONE ? -1 : 0;
}

void mempools_count(const struct cursor *at, const struct block *block, bool birth)
{
    if (block->mempool == HISTORY_NONE)
        return;
    struct mempool *mempool = &at->history->mempools[block->mempool];
    mempool->live_bytes += birth ? block->size_bytes : -block->size_bytes;
    if (mempool->live_bytes > mempool->peak_live_bytes)
        mempool->peak_live_bytes = mempool->live_bytes;
}

static int set_usage(const struct cursor *at, uint32_t number, uint64_t used_bytes,
                     uint64_t reserved_bytes)
{
    struct mempool *mempool = &at->history->mempools[number];
    if (used_bytes > mempool->peak_used_bytes)
        mempool->peak_used_bytes = used_bytes;
    if (reserved_bytes > mempool->peak_reserved_bytes)
        mempool->peak_reserved_bytes = reserved_bytes;
    mempool->usage.life.end_index = at->index;
    if (mempool->reported && past_end_usage(at->history, &mempool->usage, at->err))
        return -1;
    mempool->reported = true;
    mempool->usage = (struct mempool_usage){
        .life = {at->index, INDEX_NONE}, .mempool = number, .reserved_bytes = reserved_bytes};
    return 0;
}

int mempools_report(const struct cursor *at, uint32_t mempool)
{
    return set_usage(at, mempool, at->event->address, at->event->size_bytes);
}

/* The blocks of a destroyed mempool live until they are freed. The rest of the mempool's memory is
 * given back now. */
int mempools_destroy(struct mempools *mempools, const struct cursor *at)
{
    if (at->event->result != 0)
        return 0;
    uint32_t number = pair_map_remove(&mempools->numbers, BY_HANDLE, at->event->object);
    if (number == PAIR_MAP_NONE || !at->history->mempools[number].reported)
        return 0;
    return set_usage(at, number, at->history->mempools[number].live_bytes, 0);
}
