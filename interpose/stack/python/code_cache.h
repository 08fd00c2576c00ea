/* SPDX-License-Identifier: MIT */
/*
 * A cache of the locations of places in code objects. It is a hash table whose key is the code
 * object and the place.
 *
 *     slots[]:  | key: object's address / 8, place | location_id | next of the same object |
 *               the object's own slot (place CODE_CACHE_HEAD) starts the chain of its places
 *
 * When a code object dies, code_cache_forget removes its places, because its address may be used
 * again. Readers need no lock: a running frame keeps its code object alive, so no writer removes
 * the slots that a reader of that frame finds. The caller's lock allows only one writer at a time.
 * There are two tables; when the current one is too full, its slots are moved to the other. If two
 * such moves happen during a lookup, the reader finds nothing, but never a wrong location.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CODE_CACHE_PLACE_BITS 19
#define CODE_CACHE_HEAD (((uint64_t)1 << CODE_CACHE_PLACE_BITS) - 1)
#define CODE_CACHE_TRIES 64

struct code_cache_slot {
    /* 0: free; 1: was in use. Stored with release after the location, so a reader that sees the key
     * also sees the location. */
    _Atomic uint64_t key;
    _Atomic uint32_t location_id;
    uint32_t next; /* slot + 1; 0: the last one */
};

struct code_cache_table {
    struct code_cache_slot *slots;
    _Atomic uint64_t mask;
};

/* Stored with release when the table is complete; loaded with acquire. */
extern _Atomic(struct code_cache_table *) code_cache_table;

/* Returns the key. place: the number of the instruction, from 0. Returns 0 if the place cannot be
 * cached. */
static inline uint64_t code_cache_key(const void *code, uint64_t place)
{
    const uint64_t address = (uint64_t)(uintptr_t)code;
    return place < CODE_CACHE_HEAD && !(address >> (64 + 3 - CODE_CACHE_PLACE_BITS))
               ? address >> 3 << CODE_CACHE_PLACE_BITS | place
               : 0;
}

static inline uint64_t code_cache_start(uint64_t key)
{
    const uint64_t hash = key * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Returns the location_id of a place in a living object; 0: the place is not in the cache. */
static inline uint32_t code_cache_find(uint64_t key)
{
    struct code_cache_table *table = atomic_load_explicit(&code_cache_table, memory_order_acquire);
    const uint64_t mask = atomic_load_explicit(&table->mask, memory_order_relaxed);
    uint64_t at = code_cache_start(key);
    for (int tries = 0; tries < CODE_CACHE_TRIES; tries++, at++) {
        struct code_cache_slot *slot = &table->slots[at & mask];
        const uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (found == key) {
            const uint32_t id = atomic_load_explicit(&slot->location_id, memory_order_relaxed);
            /* A move may have cleared the table during the search. */
            atomic_thread_fence(memory_order_acquire);
            return atomic_load_explicit(&slot->key, memory_order_relaxed) == key ? id : 0;
        }
        if (!found)
            return 0;
    }
    return 0;
}

/* Empties the cache, which no thread may read during the call. Returns false if memory is out. */
bool code_cache_setup(void);

/* Adds a place. Only one thread may call it at a time. The key must not be 0, and must not be in
 * the table yet. */
void code_cache_add(uint64_t key, uint32_t location_id);
void code_cache_forget(const void *code);

/* Does the table hold any place of this object? Needs no lock, because nobody adds places of a
 * dying object. */
bool code_cache_knows(const void *code);
