/* SPDX-License-Identifier: MIT */
/*
 * Contexts while replaying: which are there, and which blocks a destroyed one takes with it. It
 * must not know how a block's death is counted.
 */
#include "replay.h"

#include <string.h>

#include "analyzer/util/array.h"

int replay_context_create(struct replay *replay)
{
    static const char by_program[] = "cuCtxCreate";
    const struct event *event = replay->event;
    const char *hook = trace_hook(replay->history->trace, event->hook_id);
    struct context *grown;

    if (event->result == RESULT_OUT_OF_MEMORY)
        return replay_failure(replay, replay_stock(replay, event->device, MEMORY_MODULE, 0));
    if (event->result != 0)
        return 0;
    grown = array_grow(replay->contexts, &replay->context_capacity, replay->context_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return -1;
    replay->contexts = grown;
    grown[replay->context_count] =
        (struct context){.handle = event->object,
                         .device = event->device,
                         .create_index = replay->index,
                         .primary = strncmp(hook, by_program, sizeof by_program - 1) != 0};
    return address_map_put(&replay->names, NAME_CONTEXT, event->object,
                           (uint32_t)replay->context_count++, replay->err);
}

static const struct context *find_context(const struct replay *replay, uint64_t handle)
{
    uint32_t number = address_map_get(&replay->names, NAME_CONTEXT, handle);

    return number == ADDRESS_MAP_NONE ? NULL : &replay->contexts[number];
}

/* The context a block names; 0: none. A module's event has room for the module only. */
static uint64_t context_of(const struct replay *replay, const struct block *block)
{
    const struct event *event = &replay->history->trace->events[block->alloc_index];

    return event->kind == EVENT_MODULE_LOAD ? 0 : event->object;
}

/* A destroyed context without a handle is the device's primary one. */
static bool lived_in(const struct replay *replay, const struct block *block,
                     const struct context *destroyed)
{
    uint64_t handle = context_of(replay, block);
    const struct context *context = find_context(replay, handle);

    if (!handle)
        return block->alloc_index >= destroyed->create_index;
    return destroyed->handle ? handle == destroyed->handle : !context || context->primary;
}

static int end_blocks_of(struct replay *replay, const struct context *destroyed, int device)
{
    uint32_t next;

    for (uint32_t i = replay->live_blocks[DEVICE_SLOT(device)]; i != HISTORY_NONE; i = next) {
        const struct block *block = &replay->history->blocks[i];

        next = block->next;
        if (lived_in(replay, block, destroyed) &&
            replay_end_at(replay, replay_rules[block->memory].space, block->address,
                          BLOCK_IMPLICIT))
            return -1;
    }
    return 0;
}

int replay_context_destroy(struct replay *replay)
{
    const struct event *event = replay->event;
    const struct context *known = find_context(replay, event->object);
    struct context destroyed = {.handle = event->object, .device = event->device};

    if (event->result != 0)
        return 0;
    if (known)
        destroyed = *known;
    if (destroyed.device == DEVICE_UNKNOWN)
        destroyed.create_index = HISTORY_NONE; /* only blocks that name it are known to be its */
    replay->context_death[DEVICE_SLOT(destroyed.device)] = replay->index;
    for (int device = DEVICE_UNKNOWN; device <= INT8_MAX; device++)
        if ((destroyed.device == DEVICE_UNKNOWN || destroyed.device == device) &&
            end_blocks_of(replay, &destroyed, device))
            return -1;
    address_map_remove(&replay->names, NAME_CONTEXT, event->object);
    return 0;
}
