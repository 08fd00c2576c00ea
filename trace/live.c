/* SPDX-License-Identifier: MIT */
/*
 * See live.h. A hash table holds the live objects, and the sums are kept by device.
 */
#include "live.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/event.h"

/* Kinds of addresses; equal numbers in different spaces are different objects. */
enum space {
    SPACE_MEMORY,
    SPACE_HANDLE,
    SPACE_MAPPING,
    SPACE_GRAPH,
    SPACE_POOL, /* of the first pool; the spaces of the other pools follow */
    SPACE_BITS = 3
};

struct live_entry {
    uint64_t key;        /* address << SPACE_BITS | space; 0: free */
    uint64_t size_bytes; /* of a mapping: its length, which is not counted */
    uint64_t owner;      /* the context; of a mapping: the key of its object */
    uint32_t references, mappings;
    uint16_t account;
    bool dies_with_context;
};

void live_release(struct live *live)
{
    free(live->entries);
    memset(live, 0, sizeof *live);
}

/* --- the table --- */

static uint64_t key_of(enum space space, uint64_t address)
{
    return address << SPACE_BITS | (uint64_t)space;
}

static enum space space_of(uint64_t key)
{
    return (enum space)(key & ((1u << SPACE_BITS) - 1));
}

static size_t start_of(const struct live *live, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (live->entry_limit - 1);
}

static size_t place_of(const struct live *live, uint64_t key)
{
    size_t at = start_of(live, key);
    while (live->entries[at].key && live->entries[at].key != key)
        at = (at + 1) & (live->entry_limit - 1);
    return at;
}

static struct live_entry *find(const struct live *live, uint64_t key)
{
    struct live_entry *entry = live->entry_count ? &live->entries[place_of(live, key)] : NULL;
    return entry && entry->key ? entry : NULL;
}

static int grow(struct live *live)
{
    struct live grown = *live;
    grown.entry_limit = live->entry_limit ? live->entry_limit * 2 : 4096;
    grown.entries = calloc(grown.entry_limit, sizeof *grown.entries);
    if (!grown.entries)
        return -1;
    for (size_t i = 0; i < live->entry_limit; i++)
        if (live->entries[i].key)
            grown.entries[place_of(&grown, live->entries[i].key)] = live->entries[i];
    free(live->entries);
    *live = grown;
    return 0;
}

/* Removes an entry, and moves back later entries of its probe sequence, so that no tombstones are
 * needed. */
static void erase(struct live *live, size_t hole)
{
    const size_t mask = live->entry_limit - 1;
    for (size_t at = (hole + 1) & mask; live->entries[at].key; at = (at + 1) & mask) {
        const size_t start = start_of(live, live->entries[at].key);
        if (((at - start) & mask) >= ((at - hole) & mask)) {
            live->entries[hole] = live->entries[at];
            hole = at;
        }
    }
    live->entries[hole].key = 0;
    live->entry_count--;
}

static uint16_t device_of(const struct live_event *event)
{
    return event->device < 0 ? LIVE_UNKNOWN_DEVICE : (uint16_t)event->device;
}

/* --- births and deaths --- */

static void end(struct live *live, struct live_entry *entry)
{
    if (space_of(entry->key) != SPACE_MAPPING)
        live->live_bytes[entry->account] -= entry->size_bytes;
    erase(live, (size_t)(entry - live->entries));
}

static void begin(struct live *live, const struct live_entry *entry)
{
    struct live_entry *old = find(live, entry->key);
    uint64_t *live_bytes = &live->live_bytes[entry->account];
    if (old) { /* the old object's free was not recorded; in a replay a VMM object would live on */
        live->is_doubtful |=
            space_of(old->key) == SPACE_MAPPING || space_of(old->key) == SPACE_HANDLE;
        end(live, old);
    }
    if (live->entry_count * 2 >= live->entry_limit && grow(live)) {
        live->is_doubtful = true;
        return;
    }
    live->entries[place_of(live, entry->key)] = *entry;
    live->entry_count++;
    if (space_of(entry->key) == SPACE_MAPPING)
        return;
    *live_bytes += entry->size_bytes;
    if (!live->has_ended && *live_bytes > live->peak_bytes[entry->account])
        live->peak_bytes[entry->account] = *live_bytes;
}

static void end_if_unused(struct live *live, struct live_entry *object)
{
    if (!object->references && !object->mappings)
        end(live, object);
}

/* --- events --- */

/* Is this a failure that the report counts? Failures of address ranges, graph nodes and mapped
 * buffers are not counted, because these take no memory. */
static bool counts_as_refused(const struct live_event *event)
{
    return account_kind((enum memory_kind)event->memory) != ACCOUNT_none;
}

static void allocate(struct live *live, const struct live_event *event)
{
    const bool is_object = event->memory == MEMORY_VMM;
    const bool plain = event->memory == MEMORY_LINEAR || event->memory == MEMORY_PITCHED ||
                       event->memory == MEMORY_ARRAY;
    if (event->result != 0)
        live->failed_allocations += !live->has_ended && counts_as_refused(event);
    else if (account_kind((enum memory_kind)event->memory) == ACCOUNT_device && event->address)
        begin(live, &(struct live_entry){
                        .key = key_of(is_object ? SPACE_HANDLE : SPACE_MEMORY, event->address),
                        .size_bytes = event->size_bytes,
                        .owner = plain ? event->object : 0,
                        .references = 1,
                        .account = device_of(event),
                        .dies_with_context = plain,
                    });
}

static void release(struct live *live, enum space space, uint64_t address)
{
    struct live_entry *entry = find(live, key_of(space, address));
    if (!entry || !entry->references)
        return;
    entry->references--;
    end_if_unused(live, entry);
}

static void map(struct live *live, const struct live_event *event)
{
    struct live_entry *object = find(live, key_of(SPACE_HANDLE, event->object));
    if (!object || !event->size_bytes)
        return;
    object->mappings++;
    begin(live, &(struct live_entry){.key = key_of(SPACE_MAPPING, event->address),
                                     .size_bytes = event->size_bytes,
                                     .owner = object->key,
                                     .account = object->account});
}

/* The range may contain several mappings, one after the other. */
static void unmap(struct live *live, const struct live_event *event)
{
    const uint64_t stop = event->address + event->size_bytes;
    uint64_t address = event->address;
    struct live_entry *mapping;
    while (address < stop && (mapping = find(live, key_of(SPACE_MAPPING, address)))) {
        const uint64_t owner = mapping->owner, size_bytes = mapping->size_bytes;
        end(live, mapping);
        struct live_entry *object = find(live, owner);
        if (object && object->mappings) {
            object->mappings--;
            end_if_unused(live, object);
        }
        address += size_bytes;
    }
    live->is_doubtful |= address < stop; /* a mapping of other memory, or a gap */
}

/* The driver returned the handle that the object already has. */
static void retain(struct live *live, const struct live_event *event)
{
    struct live_entry *object = find(live, key_of(SPACE_HANDLE, event->object));
    if (object)
        object->references++;
}

/* Did the object live in the event's context? An event without a handle means the device's primary
 * context. */
static bool lived_in(const struct live_entry *entry, const struct live_event *event)
{
    if (!entry->key || !entry->dies_with_context)
        return false;
    return event->object ? entry->owner == event->object : entry->account == device_of(event);
}

static void destroy_context(struct live *live, const struct live_event *event)
{
    for (size_t i = 0; i < live->entry_limit;)
        if (lived_in(&live->entries[i], event))
            end(live, &live->entries[i]); /* may move another entry to this place, so look again */
        else
            i++;
}

static void use_pool(struct live *live, const struct live_event *event)
{
    if (event->memory == MEMORY_GRAPH)
        begin(live, &(struct live_entry){.key = key_of(SPACE_GRAPH, (uint64_t)device_of(event) + 1),
                                         .size_bytes = event->address,
                                         .references = 1,
                                         .account = device_of(event)});
}

/* --- blocks of framework pools --- */

/* Returns the pool's number; -1: there is no room for another pool. */
static int pool_of(struct live *live, uint64_t name)
{
    int pool = 0;
    while (pool < LIVE_POOLS && live->pools[pool] && live->pools[pool] != name)
        pool++;
    if (pool == LIVE_POOLS || !name)
        return -1;
    live->pools[pool] = name;
    return pool;
}

static void count_piece(struct live *live, const struct live_event *event)
{
    const bool is_birth = event->kind == EVENT_ALLOC && (event->address || event->result != 0);
    if (!is_birth && event->kind != EVENT_FREE)
        return;
    const int pool = pool_of(live, event->object);
    if (pool < 0 || event->device >= LIVE_DEVICES) {
        live->is_doubtful = true;
        return;
    }
    const size_t account = live_account_of_pool(pool, device_of(event));
    const enum space space = (enum space)(SPACE_POOL + pool);
    if (is_birth)
        live->is_seen[account] |= !live->has_ended;
    if (event->result != 0)
        return;
    if (!is_birth)
        release(live, space, event->address);
    else
        begin(live, &(struct live_entry){.key = key_of(space, event->address),
                                         .size_bytes = event->size_bytes,
                                         .references = 1,
                                         .account = (uint16_t)account});
}

/* --- events that only a replay follows exactly --- */

static bool is_beyond(const struct live_event *event)
{
    switch (event->kind) {
    case EVENT_BIND:
    case EVENT_RETAIN:
    case EVENT_CONTEXT_DESTROY:
    case EVENT_EXIT_UNDONE:
        return true;
    case EVENT_POOL_CREATE: /* its memory may be the host's */
        return event->memory != MEMORY_ASYNC;
    default:
        return event->device >= LIVE_DEVICES;
    }
}

void live_count(struct live *live, const struct live_event *event)
{
    const bool has_device = event->device < LIVE_DEVICES;
    if (event->kind == EVENT_EXIT && event->object != EXIT_BY_EXEC)
        live->has_ended = true;
    if (event->kind == EVENT_EXIT_UNDONE)
        live->has_ended = false;
    live->is_doubtful |= (!live->has_ended || event->kind == EVENT_EXIT_UNDONE) && is_beyond(event);
    if (event->device >= 0 && has_device)
        live->is_seen[event->device] |= !live->has_ended;
    if (account_kind((enum memory_kind)event->memory) == ACCOUNT_pool) {
        count_piece(live, event); /* lies in memory that is already counted */
        return;
    }
    if (event->kind == EVENT_ALLOC && (has_device || event->result != 0))
        allocate(live, event);
    if (event->result != 0)
        return;
    if (event->kind == EVENT_FREE)
        release(live, event->memory == MEMORY_VMM ? SPACE_HANDLE : SPACE_MEMORY, event->address);
    if (event->kind == EVENT_MAP)
        map(live, event);
    if (event->kind == EVENT_UNMAP)
        unmap(live, event);
    if (event->kind == EVENT_RETAIN)
        retain(live, event);
    if (event->kind == EVENT_CONTEXT_DESTROY)
        destroy_context(live, event);
    if (event->kind == EVENT_POOL_USAGE && has_device)
        use_pool(live, event);
}
