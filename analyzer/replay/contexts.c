/* SPDX-License-Identifier: MIT */
/* Contexts by handle; see contexts.h. */
#include "contexts.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

struct context {
    uint64_t handle;
    int device;
    uint64_t create_index;
    bool is_primary; /* the device's primary context, which a device reset ends */
};

void contexts_init(struct contexts *contexts)
{
    *contexts = (struct contexts){0};
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        contexts->last_destroyed[slot] = INDEX_NONE;
}

void contexts_release(struct contexts *contexts)
{
    free(contexts->items);
    slots_release(&contexts->slots);
    pair_map_release(&contexts->by_handle);
}

static bool creates_primary(const struct cursor *at)
{
    static const char by_program[] = "cuCtxCreate";
    const char *hook = trace_hook(at->history->trace, at->event->hook_id);
    return strncmp(hook, by_program, sizeof by_program - 1) != 0;
}

static void forget_context(struct contexts *contexts, struct blocks *blocks, uint64_t handle)
{
    uint32_t number = pair_map_remove(&contexts->by_handle, 0, handle);
    if (number == PAIR_MAP_NONE)
        return;
    slots_give_back(&contexts->slots, number);
    bound_lists_show(&blocks->bound, handle);
}

int contexts_create(struct contexts *contexts, struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    const struct event *event = at->event;
    if (event->result == RESULT_OUT_OF_MEMORY)
        return blocks_fail(blocks,
                           accounts_find(&blocks->accounts, at, event->device, MEMORY_MODULE, 0));
    if (event->result != 0)
        return 0;
    forget_context(contexts, blocks, event->object);
    uint32_t number = slots_take(&contexts->slots, at->err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(contexts->items, contexts->capacity, number, at->err))
        return -1;
    contexts->items[number] = (struct context){.handle = event->object,
                                               .device = event->device,
                                               .create_index = at->index,
                                               .is_primary = creates_primary(at)};
    return pair_map_put(&contexts->by_handle, 0, event->object, number, at->err);
}

static const struct context *find_context(const struct contexts *contexts, uint64_t handle)
{
    uint32_t number = pair_map_get(&contexts->by_handle, 0, handle);
    return number == PAIR_MAP_NONE ? NULL : &contexts->items[number];
}

/* --- the end of a context --- */

/* Ends the blocks of the list that began at event `since` or later. It can stop at the first older
 * block, because the newest blocks come first. */
static int end_list(struct blocks *blocks, int device, uint64_t context, uint64_t since)
{
    uint32_t newest;
    while ((newest = bound_lists_newest(&blocks->bound, device, context)) != HISTORY_NONE) {
        const struct block *block = &blocks->at.history->blocks[newest];
        if (block->life.begin_index < since)
            break;
        if (blocks_end_found(blocks, newest, BLOCK_IMPLICIT))
            return -1;
    }
    return 0;
}

/*
 * Ends the blocks of the device's primary context (a destroyed context without a handle). Lists of
 * contexts that the program made are hidden, so that repeated resets visit each of them only once.
 */
static int end_primary_lists(const struct contexts *contexts, struct blocks *blocks, int device)
{
    uint64_t handle = 0, next_handle = 0;
    uint32_t next, list = bound_lists_next(&blocks->bound, device, HISTORY_NONE, &handle);
    for (; list != HISTORY_NONE; list = next, handle = next_handle) {
        const struct context *context = find_context(contexts, handle);
        next = bound_lists_next(&blocks->bound, device, list, &next_handle);
        if (context && !context->is_primary)
            bound_lists_hide(&blocks->bound, list);
        else if (handle && end_list(blocks, device, handle, 0))
            return -1;
    }
    return 0;
}

static int end_blocks_of(const struct contexts *contexts, struct blocks *blocks,
                         const struct context *destroyed, int device)
{
    if (end_list(blocks, device, 0, destroyed->create_index))
        return -1;
    return destroyed->handle ? end_list(blocks, device, destroyed->handle, 0)
                             : end_primary_lists(contexts, blocks, device);
}

int contexts_destroy(struct contexts *contexts, struct blocks *blocks)
{
    const struct event *event = blocks->at.event;
    if (event->result != 0)
        return 0;
    const struct context *known = find_context(contexts, event->object);
    struct context destroyed = {.handle = event->object, .device = event->device};
    if (known)
        destroyed = *known;
    if (destroyed.device == DEVICE_UNKNOWN)
        destroyed.create_index = INDEX_NONE; /* end only blocks that name the context */
    contexts->last_destroyed[DEVICE_SLOT(destroyed.device)] = blocks->at.index;
    for (int device = DEVICE_UNKNOWN; device <= INT8_MAX; device++)
        if ((destroyed.device == DEVICE_UNKNOWN || destroyed.device == device) &&
            end_blocks_of(contexts, blocks, &destroyed, device))
            return -1;
    forget_context(contexts, blocks, event->object);
    return 0;
}

bool contexts_took(const struct contexts *contexts, const struct blocks *blocks, uint32_t number)
{
    enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };
    const struct history *history = blocks->at.history;
    const struct block *block = &history->blocks[number];
    int32_t result = blocks->at.event->result;
    uint64_t destroyed =
        contexts->last_destroyed[DEVICE_SLOT(history->accounts[block->account].device)];
    return (result == DEINITIALIZED || result == INVALID_CONTEXT ||
            result == CONTEXT_IS_DESTROYED) &&
           destroyed != INDEX_NONE && block->life.begin_index < destroyed;
}
