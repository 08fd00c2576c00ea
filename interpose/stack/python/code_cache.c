/* SPDX-License-Identifier: MIT */
/*
 * See code_cache.h. This file has the functions of the writers.
 */
#include "code_cache.h"

#include <stddef.h>
#include <sys/mman.h>

#define SLOTS_FIRST ((uint64_t)1 << 12)
#define SLOTS_MAX ((uint64_t)1 << 20) /* 16 MiB of address space for each table */
#define WAS_TAKEN 1

static struct code_cache_table tables[2];
_Atomic(struct code_cache_table *) code_cache_table = &tables[0];

/* The number of moves that have begun. Stored with release, so a reader that sees a change by a
 * move also sees that the move has begun. */
static _Atomic uint64_t move_count;

/* Counts in the current table: slots that are not free, and slots that hold a place. */
static uint64_t taken_count, live_count;

static struct code_cache_slot *reserve(void)
{
    void *memory = mmap(NULL, SLOTS_MAX * sizeof(struct code_cache_slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool code_cache_setup(void)
{
    for (int i = 0; i < 2; i++) {
        if (tables[i].slots)
            munmap(tables[i].slots, SLOTS_MAX * sizeof *tables[i].slots);
        tables[i].slots = reserve();
        atomic_store(&tables[i].mask, SLOTS_FIRST - 1);
    }
    atomic_store(&code_cache_table, &tables[0]);
    taken_count = live_count = 0;
    return tables[0].slots && tables[1].slots;
}

static uint64_t head_key(const void *code)
{
    const uint64_t first = code_cache_key(code, 0);
    return first ? first | CODE_CACHE_HEAD : 0;
}

/* Returns the slot with this key, or else the first slot that can take the key. NULL: there is no
 * such slot within CODE_CACHE_TRIES. */
static struct code_cache_slot *find_slot(struct code_cache_table *table, uint64_t key)
{
    const uint64_t mask = atomic_load_explicit(&table->mask, memory_order_relaxed);
    struct code_cache_slot *free_slot = NULL;
    uint64_t at = code_cache_start(key);
    for (int tries = 0; tries < CODE_CACHE_TRIES; tries++, at++) {
        struct code_cache_slot *slot = &table->slots[at & mask];
        const uint64_t found = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (found == key)
            return slot;
        if (!free_slot && found <= WAS_TAKEN)
            free_slot = slot;
        if (!found)
            break;
    }
    return free_slot;
}

static void fill(struct code_cache_slot *slot, uint64_t key, uint32_t location_id, uint32_t next)
{
    if (!atomic_load_explicit(&slot->key, memory_order_relaxed))
        taken_count++;
    live_count++;
    atomic_store_explicit(&slot->location_id, location_id, memory_order_relaxed);
    slot->next = next;
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

/* Returns false if the table has no room. */
static bool add_to(struct code_cache_table *table, uint64_t key, uint32_t location_id)
{
    struct code_cache_slot *head = find_slot(table, key | CODE_CACHE_HEAD);
    if (!head)
        return false;
    if (atomic_load_explicit(&head->key, memory_order_relaxed) != (key | CODE_CACHE_HEAD))
        fill(head, key | CODE_CACHE_HEAD, 1, 0);
    struct code_cache_slot *slot = find_slot(table, key);
    if (!slot)
        return false;
    fill(slot, key, location_id, head->next);
    head->next = (uint32_t)(slot - table->slots) + 1;
    return true;
}

/* Copies the live slots into the other table, which is made larger if they fill more than a
 * quarter. If even the largest table is too small, it starts empty; places still in use are added
 * again when they are next looked up. */
static void move(void)
{
    struct code_cache_table *from = atomic_load_explicit(&code_cache_table, memory_order_relaxed);
    struct code_cache_table *to = &tables[from == &tables[0]];
    const uint64_t from_slots = atomic_load_explicit(&from->mask, memory_order_relaxed) + 1;
    const bool larger = live_count > from_slots / 4;
    const bool keep = !larger || from_slots < SLOTS_MAX;
    const uint64_t to_slots = larger && keep ? from_slots * 2 : from_slots;
    atomic_fetch_add_explicit(&move_count, 1, memory_order_acq_rel);
    for (uint64_t i = 0; i < to_slots; i++)
        atomic_store_explicit(&to->slots[i].key, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&to->mask, to_slots - 1, memory_order_relaxed);
    taken_count = live_count = 0;
    for (uint64_t i = 0; keep && i < from_slots; i++) {
        struct code_cache_slot *slot = &from->slots[i];
        const uint64_t key = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (key > WAS_TAKEN && (key & CODE_CACHE_HEAD) != CODE_CACHE_HEAD)
            add_to(to, key, atomic_load_explicit(&slot->location_id, memory_order_relaxed));
    }
    atomic_store_explicit(&code_cache_table, to, memory_order_release);
}

void code_cache_add(uint64_t key, uint32_t location_id)
{
    struct code_cache_table *table = atomic_load_explicit(&code_cache_table, memory_order_relaxed);
    if (taken_count * 2 > atomic_load_explicit(&table->mask, memory_order_relaxed)) {
        move();
        table = atomic_load_explicit(&code_cache_table, memory_order_relaxed);
    }
    add_to(table, key, location_id);
}

bool code_cache_knows(const void *code)
{
    const uint64_t key = head_key(code);
    const uint64_t before = atomic_load_explicit(&move_count, memory_order_acquire);
    if (!key || code_cache_find(key))
        return key != 0;
    /* The lookup may have missed the object because of a move. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&move_count, memory_order_relaxed) != before;
}

static void remove_slot(struct code_cache_slot *slot)
{
    atomic_store_explicit(&slot->key, WAS_TAKEN, memory_order_relaxed);
    live_count--;
}

void code_cache_forget(const void *code)
{
    struct code_cache_table *table = atomic_load_explicit(&code_cache_table, memory_order_relaxed);
    const uint64_t key = head_key(code);
    struct code_cache_slot *head = key ? find_slot(table, key) : NULL;
    if (!head || atomic_load_explicit(&head->key, memory_order_relaxed) != key)
        return;
    for (uint32_t next = head->next; next; next = table->slots[next - 1].next)
        remove_slot(&table->slots[next - 1]);
    remove_slot(head);
}
