/* SPDX-License-Identifier: MIT */
/*
 * An address map with sums. See tally.h. Runs on the writer's thread, so it may allocate; when it
 * cannot, it forgets addresses: the line at exit is then too low, nothing else.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

void tally_release(struct tally *tally)
{
    free(tally->entries);
    memset(tally, 0, sizeof *tally);
}

static size_t start_of(const struct tally *tally, uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & (tally->entry_limit - 1);
}

static size_t find(const struct tally *tally, uint64_t address)
{
    size_t at = start_of(tally, address);
    while (tally->entries[at].address && tally->entries[at].address != address)
        at = (at + 1) & (tally->entry_limit - 1);
    return at;
}

static int grow(struct tally *tally)
{
    struct tally grown = *tally;
    grown.entry_limit = tally->entry_limit ? tally->entry_limit * 2 : 4096;
    grown.entries = calloc(grown.entry_limit, sizeof *grown.entries);
    if (!grown.entries)
        return -1;
    for (size_t i = 0; i < tally->entry_limit; i++)
        if (tally->entries[i].address)
            grown.entries[find(&grown, tally->entries[i].address)] = tally->entries[i];
    free(tally->entries);
    *tally = grown;
    return 0;
}

/* Removes an entry and moves back those that had to pass it (no tombstones). */
static void erase(struct tally *tally, size_t hole)
{
    const size_t mask = tally->entry_limit - 1;
    for (size_t at = (hole + 1) & mask; tally->entries[at].address; at = (at + 1) & mask) {
        const size_t start = start_of(tally, tally->entries[at].address);
        if (((at - start) & mask) >= ((at - hole) & mask)) {
            tally->entries[hole] = tally->entries[at];
            hole = at;
        }
    }
    tally->entries[hole].address = 0;
    tally->entry_count--;
}

static void add(struct tally *tally, const struct ring_slot *slot)
{
    if (slot->device < 0 || slot->device >= 64)
        return;
    if (tally->entry_count * 2 >= tally->entry_limit && grow(tally))
        return;
    struct tally_entry *entry = &tally->entries[find(tally, slot->address)];
    if (!entry->address)
        tally->entry_count++;
    *entry = (struct tally_entry){slot->address, slot->size_bytes, slot->device};
    tally->live_bytes[slot->device] += slot->size_bytes;
    if (tally->live_bytes[slot->device] > tally->peak_bytes[slot->device])
        tally->peak_bytes[slot->device] = tally->live_bytes[slot->device];
}

static void remove_block(struct tally *tally, uint64_t address)
{
    if (!tally->entry_count)
        return;
    const size_t at = find(tally, address);
    if (!tally->entries[at].address)
        return;
    tally->live_bytes[tally->entries[at].device] -= tally->entries[at].size_bytes;
    erase(tally, at);
}

static const uint8_t memory_accounts[MEMORY_KIND_COUNT] = {
#define MEMORY(name, layer, account, text) ACCOUNT_##account,
#include "gpumemtrace/schema/memory.def"
};

void tally_add(struct tally *tally, const struct store_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ring_slot *slot = events[i].slot;
        if (slot->kind == EVENT_FREE && slot->result == 0)
            remove_block(tally, slot->address);
        if (slot->kind != EVENT_ALLOC || slot->nested)
            continue;
        if (slot->result != 0)
            tally->failed_allocations++;
        else if (memory_accounts[slot->memory] == ACCOUNT_device)
            add(tally, slot);
    }
}
