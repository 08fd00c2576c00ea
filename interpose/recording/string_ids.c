/* SPDX-License-Identifier: MIT */
/*
 * A table of hashes. See string_ids.h. The texts themselves are only in the trace: two texts with
 * the same 64-bit hash would share a number (one chance in 10^11 for 10,000 texts).
 */
#include "string_ids.h"

#include <stdatomic.h>
#include <string.h>

#define STRING_LIMIT 65536 /* power of two */
#define STRING_TRIES 64

struct string_slot {
    _Atomic uint64_t hash; /* 0: free */
    _Atomic uint32_t id;   /* 0: its text is being written */
};

static struct string_slot slots[STRING_LIMIT];
static _Atomic uint32_t next_id = 1;

void strings_setup(void)
{
    /* Only a fork's child has something to forget; pages that were never touched stay so. */
    if (atomic_load(&next_id) > 1)
        memset(slots, 0, sizeof slots);
    atomic_store(&next_id, 1);
}

/* FNV-1a, never 0. */
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

uint32_t strings_intern(struct thread *thread, const char *text)
{
    if (!text)
        return 0;
    const size_t bytes = strnlen(text, RECORD_TEXT_MAX);
    const uint64_t hash = hash_text(text, bytes);
    for (uint64_t at = hash, tries = 0; tries < STRING_TRIES; at++, tries++) {
        struct string_slot *slot = &slots[at & (STRING_LIMIT - 1)];
        uint64_t found = atomic_load_explicit(&slot->hash, memory_order_acquire);
        if (!found && atomic_compare_exchange_strong(&slot->hash, &found, hash)) {
            const uint32_t id = define_string(thread, text, bytes);
            atomic_store_explicit(&slot->id, id, memory_order_release);
            return id;
        }
        if (found != hash)
            continue;
        const uint32_t id = atomic_load_explicit(&slot->id, memory_order_acquire);
        /* Another thread is writing it at this moment; a second row with the same text is
         * harmless. */
        return id ? id : define_string(thread, text, bytes);
    }
    /* The table is too full around here: the text is written again each time it is used. */
    return define_string(thread, text, bytes);
}
