/* SPDX-License-Identifier: MIT */
/*
 * VMM memory bound into multicast objects and sparse arrays: it lives as long as it is bound. It
 * must not know what else keeps an object alive.
 */
#include "replay.h"

#include "analyzer/util/array.h"

static bool is_container(const struct replay *replay, uint32_t block)
{
    uint8_t memory = replay->history->blocks[block].memory;

    return memory == MEMORY_MULTICAST || memory == MEMORY_ARRAY;
}

/* The block of the multicast object or array that the event names; HISTORY_NONE: not recorded. */
static uint32_t container_of(const struct replay *replay, uint64_t handle)
{
    uint32_t object = replay_object_of(replay, handle), array;

    if (object != HISTORY_NONE && is_container(replay, replay->objects[object].block))
        return replay->objects[object].block;
    array = address_map_get(&replay->live, SPACE_ARRAY, handle);
    return array != ADDRESS_MAP_NONE && is_container(replay, array) ? array : HISTORY_NONE;
}

static int device_of(const struct replay *replay, uint32_t object)
{
    const struct history *history = replay->history;

    return history->stocks[history->blocks[replay->objects[object].block].stock].device;
}

/* A stretch of a container; each device has places of its own in a multicast object. */
struct place {
    uint32_t container;
    int device; /* DEVICE_UNKNOWN: of every device */
    uint64_t start, size_bytes;
};

static bool is_in(const struct replay *replay, const struct binding *binding,
                  const struct place *place)
{
    return binding->start >= place->start && binding->start - place->start < place->size_bytes &&
           (place->device == DEVICE_UNKNOWN || place->device == device_of(replay, binding->object));
}

static int set_first(struct replay *replay, uint32_t container, uint32_t first)
{
    if (first != HISTORY_NONE)
        return address_map_put(&replay->names, NAME_BINDINGS, container, first, replay->err);
    address_map_remove(&replay->names, NAME_BINDINGS, container);
    return 0;
}

/* Ends what is bound in the place. */
static int clear(struct replay *replay, const struct place *place)
{
    uint32_t next, kept = HISTORY_NONE;
    uint32_t i = address_map_get(&replay->names, NAME_BINDINGS, place->container);

    for (; i != HISTORY_NONE; i = next) {
        struct binding *binding = &replay->bindings[i];

        next = binding->next;
        if (!is_in(replay, binding, place)) {
            binding->next = kept;
            kept = i;
            continue;
        }
        replay->objects[binding->object].bindings_count--;
        if (replay_end_if_unused(replay, binding->object))
            return -1;
    }
    return set_first(replay, place->container, kept);
}

static int add(struct replay *replay, const struct place *place, uint32_t object)
{
    uint32_t first = address_map_get(&replay->names, NAME_BINDINGS, place->container);
    struct binding *grown = array_grow(replay->bindings, &replay->binding_capacity,
                                       replay->binding_count, sizeof *grown, replay->err);

    if (!grown)
        return -1;
    replay->bindings = grown;
    grown[replay->binding_count] =
        (struct binding){.start = place->start, .object = object, .next = first};
    return set_first(replay, place->container, (uint32_t)replay->binding_count++);
}

int replay_bind(struct replay *replay)
{
    const struct event *event = replay->event;
    uint32_t object = event->memory == MEMORY_NONE ? replay_object_at(replay, event->object)
                                                   : replay_object_of(replay, event->object);
    struct place place = {.container = container_of(replay, event->stream),
                          .start = event->address,
                          .size_bytes = event->size_bytes};

    if (event->result != 0 || object == HISTORY_NONE || place.container == HISTORY_NONE ||
        is_container(replay, replay->objects[object].block))
        return 0;
    place.device = device_of(replay, object);
    replay->objects[object].bindings_count++; /* first: it may be what was bound there */
    return clear(replay, &place) || add(replay, &place, object) ? -1 : 0;
}

int replay_unbind(struct replay *replay)
{
    const struct event *event = replay->event;
    struct place place = {.container = container_of(replay, event->stream),
                          .device = event->device,
                          .start = event->address,
                          .size_bytes = event->size_bytes};

    return event->result != 0 || place.container == HISTORY_NONE ? 0 : clear(replay, &place);
}

int replay_bindings_end(struct replay *replay, uint32_t block)
{
    struct place all = {.container = block, .device = DEVICE_UNKNOWN, .size_bytes = UINT64_MAX};

    return replay->binding_count && is_container(replay, block) ? clear(replay, &all) : 0;
}
