/* SPDX-License-Identifier: MIT */
/*
 * Maps the hashes of texts to their numbers, see string_ids.h. The texts themselves are only in the
 * trace, so two texts with the same 64-bit hash would share a number (one chance in 10^11 for
 * 10,000 texts).
 */
#include "string_ids.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define STRING_LIMIT 131072 /* power of two; 2 MiB, touched only as texts come */
#define STRING_TRIES 64

struct string_slot {
    _Atomic uint64_t hash; /* 0: free */
    _Atomic uint32_t id;   /* 0: the text is being written */
};

static struct string_slot slots[STRING_LIMIT];
static _Atomic uint32_t next_id = 1;
static _Atomic uint32_t name_count; /* number of names of phases and marks */

_Static_assert(STRINGS_NAME_LIMIT * 2 <= STRING_LIMIT, "names leave room for other texts");

void strings_setup(void)
{
    /* Only the child of a fork has texts to forget. In any other process the table is empty, and
     * its pages stay untouched. */
    if (atomic_load(&next_id) > 1)
        memset(slots, 0, sizeof slots);
    atomic_store(&next_id, 1);
    atomic_store(&name_count, 0);
}

/* Returns the FNV-1a hash of the text, but never 0. */
static uint64_t hash_text(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash ? hash : 1;
}

static uint32_t define_string(struct thread *thread, const char *text, size_t bytes)
{
    const uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    const struct ring_slot record = {.seq = id};
    thread_define(thread, SLOT_STRING, &record, text, bytes);
    return id;
}

/* Returns the number of a known text. 0: the text is unknown, and *free_slot is a free slot for it,
 * or NULL if the table has none. */
static uint32_t find_string(struct thread *thread, const char *text, size_t bytes, uint64_t hash,
                            struct string_slot **free_slot)
{
    *free_slot = NULL;
    for (uint64_t at = hash, tries = 0; tries < STRING_TRIES; at++, tries++) {
        struct string_slot *slot = &slots[at & (STRING_LIMIT - 1)];
        const uint64_t found = atomic_load_explicit(&slot->hash, memory_order_acquire);
        if (!found) {
            *free_slot = slot;
            return 0;
        }
        if (found != hash)
            continue;
        const uint32_t id = atomic_load_explicit(&slot->id, memory_order_acquire);
        /* Another thread is writing this text now. Writing it twice is harmless. */
        return id ? id : define_string(thread, text, bytes);
    }
    return 0;
}

static uint32_t add_string(struct thread *thread, const char *text, size_t bytes, uint64_t hash,
                           struct string_slot *slot)
{
    uint64_t nobody = 0;
    const bool ours = slot && atomic_compare_exchange_strong(&slot->hash, &nobody, hash);
    const uint32_t id = define_string(thread, text, bytes);
    if (ours)
        atomic_store_explicit(&slot->id, id, memory_order_release);
    return id;
}

/* If the table has no free slot, the text is written again at each use. */
uint32_t strings_intern(struct thread *thread, const char *text)
{
    struct string_slot *slot;
    if (!text)
        return 0;
    const size_t bytes = strnlen(text, RECORD_TEXT_MAX);
    const uint64_t hash = hash_text(text, bytes);
    const uint32_t id = find_string(thread, text, bytes, hash, &slot);
    return id ? id : add_string(thread, text, bytes, hash, slot);
}

uint32_t strings_intern_name(struct thread *thread, const char *text)
{
    struct string_slot *slot;
    if (!text)
        return 0;
    const size_t bytes = strnlen(text, RECORD_TEXT_MAX);
    const uint64_t hash = hash_text(text, bytes);
    const uint32_t id = find_string(thread, text, bytes, hash, &slot);
    if (id)
        return id;
    /* Relaxed, because name_count is only a count. A few names more or less than the limit do no
     * harm. */
    if (slot && atomic_load_explicit(&name_count, memory_order_relaxed) < STRINGS_NAME_LIMIT) {
        atomic_fetch_add_explicit(&name_count, 1, memory_order_relaxed);
        return add_string(thread, text, bytes, hash, slot);
    }
    atomic_fetch_add_explicit(&recording.ring.header->shared_names, 1, memory_order_relaxed);
    return strings_intern(thread, STRINGS_MORE_NAMES);
}
