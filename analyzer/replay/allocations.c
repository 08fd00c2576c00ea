/* SPDX-License-Identifier: MIT */
/* Allocations and frees; see allocations.h. */
#include "allocations.h"

static uint32_t space_of(const struct event *event)
{
    return memory_rules[event->memory].space +
           (event->memory == MEMORY_TENSOR ? (uint32_t)event->object : 0);
}

/* --- what is needed soon --- */

static bool is_of_address(const struct event *event)
{
    return event->kind == EVENT_ALLOC || event->kind == EVENT_FREE;
}

void allocations_prefetch(const struct blocks *blocks, const struct event *near,
                          const struct event *far)
{
    if (is_of_address(far))
        pair_map_prefetch(&blocks->live, space_of(far), far->address);
    if (near->kind != EVENT_FREE)
        return;
    const uint32_t number = pair_map_get(&blocks->live, space_of(near), near->address);
    if (number >= blocks->at.history->block_slots.used) /* unknown, or of a graph's node */
        return;
    const char *block = (const char *)&blocks->at.history->blocks[number];
    GMT_PREFETCH(block);
    GMT_PREFETCH(block + sizeof(struct block) - 1);
    GMT_PREFETCH(&blocks->states[number]);
}

/* --- allocations --- */

/* Counts another open of imported memory that is already live. Adds no bytes. */
static bool opens_again(struct blocks *blocks, uint32_t space)
{
    struct history *history = blocks->at.history;
    const struct event *event = blocks->at.event;
    if (event->memory != MEMORY_IMPORTED)
        return false;
    uint32_t number = pair_map_get(&blocks->live, space, event->address);
    if (number == PAIR_MAP_NONE || history->blocks[number].memory != MEMORY_IMPORTED)
        return false;
    blocks->states[number].reopened_count++;
    history->accounts[history->blocks[number].account].allocations_count++;
    return true;
}

static int begin_plain(struct blocks *blocks, uint32_t space)
{
    const struct event *event = blocks->at.event;
    struct block born = blocks_described(blocks);
    if (born.account == HISTORY_NONE || blocks_end_at(blocks, space, event->address, BLOCK_LOST))
        return -1;
    uint32_t number = blocks_begin_at(blocks, space, &born);
    if (number == HISTORY_NONE)
        return -1;
    if (event->memory == MEMORY_TENSOR)
        return driver_ranges_add_tensor(&blocks->ranges, &blocks->at, &born);
    return driver_ranges_add_plain(&blocks->ranges, &blocks->at, number);
}

int allocations_alloc(struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t space = space_of(event);
    if (space == SPACE_NONE)
        return 0;
    if (event->result != 0)
        return blocks_fail(blocks, blocks_described(blocks).account);
    if (!event->address)
        return 0;
    if (space == SPACE_GRAPH_NODE)
        return pair_map_put(&blocks->live, space, event->address, 0, blocks->at.err);
    if (space == SPACE_HANDLE)
        return vmm_alloc(vmm, blocks);
    return opens_again(blocks, space) ? 0 : begin_plain(blocks, space);
}

/* --- frees --- */

/*
 * Frees of graph-node addresses are expected, because each launch of a graph allocates them anew.
 */
static bool is_graph_node(const struct blocks *blocks, uint32_t space)
{
    if (space == SPACE_GRAPH_NODE)
        return true;
    return space == SPACE_DEVICE && pair_map_get(&blocks->live, SPACE_GRAPH_NODE,
                                                 blocks->at.event->address) != PAIR_MAP_NONE;
}

/* Closes one of several opens of an import. Returns false, and closes nothing, if only one open is
 * left. */
static bool closes_one(struct blocks *blocks, uint32_t number)
{
    struct history *history = blocks->at.history;
    if (!blocks->states[number].reopened_count)
        return false;
    blocks->states[number].reopened_count--;
    history->accounts[history->blocks[number].account].frees_count++;
    return true;
}

/* The block stays live. At the end of the process, the runtime refuses the frees of destructors,
 * and the memory goes with the process. */
static void note_failed_free(struct blocks *blocks, uint32_t number)
{
    enum { SHUTTING_DOWN = 4 };
    struct history *history = blocks->at.history;
    if (blocks->at.event->result == SHUTTING_DOWN)
        return;
    history->blocks[number].free_failed = true;
    history->failed_free_result = blocks->at.event->result;
}

int allocations_free(const struct contexts *contexts, struct vmm *vmm, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    uint32_t space = space_of(event);
    if (!event->address)
        return 0;
    if (space == SPACE_HANDLE)
        return vmm_free(vmm, blocks);
    uint32_t number = pair_map_get(&blocks->live, space, event->address);
    if (number == PAIR_MAP_NONE || space == SPACE_GRAPH_NODE) {
        blocks->at.history->unknown_frees_count +=
            event->result == 0 && !is_graph_node(blocks, space);
        return 0;
    }
    if (event->result != 0 && contexts_took(contexts, blocks, number))
        return blocks_end_at(blocks, space, event->address, BLOCK_IMPLICIT);
    if (event->result != 0) {
        note_failed_free(blocks, number);
        return 0;
    }
    if (closes_one(blocks, number))
        return 0;
    return blocks_end_at(blocks, space, event->address, BLOCK_FREED);
}
