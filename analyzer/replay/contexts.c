/* SPDX-License-Identifier: MIT */
/* Contexts by handle; see contexts.h. */
#include "contexts.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

struct context {
    uint64_t handle;
    int device;
    uint32_t create_index;
    bool is_primary; /* the device's own, which a device reset ends */
};

void contexts_init(struct contexts *contexts)
{
    *contexts = (struct contexts){0};
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        contexts->last_destroyed[slot] = HISTORY_NONE;
}

void contexts_release(struct contexts *contexts)
{
    free(contexts->items);
    address_map_release(&contexts->by_handle);
}

static bool creates_primary(const struct cursor *at)
{
    static const char by_program[] = "cuCtxCreate";
    const char *hook = trace_hook(at->history->trace, at->event->hook_id);
    return strncmp(hook, by_program, sizeof by_program - 1) != 0;
}

int contexts_create(struct contexts *contexts, struct blocks *blocks)
{
    const struct cursor *at = &blocks->at;
    const struct event *event = at->event;
    if (event->result == RESULT_OUT_OF_MEMORY)
        return blocks_fail(blocks,
                           stocks_find(&blocks->stocks, at, event->device, MEMORY_MODULE, 0));
    if (event->result != 0)
        return 0;
    struct context *grown =
        array_grow(contexts->items, &contexts->capacity, contexts->count, sizeof *grown, at->err);
    if (!grown)
        return -1;
    contexts->items = grown;
    grown[contexts->count] = (struct context){.handle = event->object,
                                              .device = event->device,
                                              .create_index = at->index,
                                              .is_primary = creates_primary(at)};
    return address_map_put(&contexts->by_handle, 0, event->object, (uint32_t)contexts->count++,
                           at->err);
}

static const struct context *find_context(const struct contexts *contexts, uint64_t handle)
{
    uint32_t number = address_map_get(&contexts->by_handle, 0, handle);
    return number == ADDRESS_MAP_NONE ? NULL : &contexts->items[number];
}

/* The context that a block names; 0: none. The event of a module names the module in its place. */
static uint64_t context_of(const struct history *history, const struct block *block)
{
    const struct event *event = &history->trace->events[block->alloc_index];
    return event->kind == EVENT_MODULE_LOAD ? 0 : event->object;
}

/* A destroyed context without a handle is the device's primary one. */
static bool lived_in(const struct contexts *contexts, uint64_t handle, const struct block *block,
                     const struct context *destroyed)
{
    const struct context *context = find_context(contexts, handle);
    if (!handle)
        return block->alloc_index >= destroyed->create_index;
    return destroyed->handle ? handle == destroyed->handle : !context || context->is_primary;
}

static int end_blocks_of(const struct contexts *contexts, struct blocks *blocks,
                         const struct context *destroyed, int device)
{
    const struct history *history = blocks->at.history;
    uint32_t next;
    for (uint32_t i = blocks->bound[DEVICE_SLOT(device)]; i != HISTORY_NONE; i = next) {
        const struct block *block = &history->blocks[i];
        next = blocks->states[i].next;
        if (lived_in(contexts, context_of(history, block), block, destroyed) &&
            blocks_end_at(blocks, memory_rules[block->memory].space, block->address,
                          BLOCK_IMPLICIT))
            return -1;
    }
    return 0;
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
        destroyed.create_index = HISTORY_NONE; /* only blocks that name it are known to be its */
    contexts->last_destroyed[DEVICE_SLOT(destroyed.device)] = blocks->at.index;
    for (int device = DEVICE_UNKNOWN; device <= INT8_MAX; device++)
        if ((destroyed.device == DEVICE_UNKNOWN || destroyed.device == device) &&
            end_blocks_of(contexts, blocks, &destroyed, device))
            return -1;
    address_map_remove(&contexts->by_handle, 0, event->object);
    return 0;
}

bool contexts_took(const struct contexts *contexts, const struct blocks *blocks, uint32_t number)
{
    enum { DEINITIALIZED = 4, INVALID_CONTEXT = 201, CONTEXT_IS_DESTROYED = 709 };
    const struct history *history = blocks->at.history;
    const struct block *block = &history->blocks[number];
    int32_t result = blocks->at.event->result;
    uint32_t destroyed =
        contexts->last_destroyed[DEVICE_SLOT(history->stocks[block->stock].device)];
    return (result == DEINITIALIZED || result == INVALID_CONTEXT ||
            result == CONTEXT_IS_DESTROYED) &&
           destroyed != HISTORY_NONE && block->alloc_index < destroyed;
}
