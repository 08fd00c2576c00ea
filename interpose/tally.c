/* SPDX-License-Identifier: MIT */
/*
 * An address map with sums behind a queue that puts events in order. See tally.h. Runs on the
 * writer's thread, so it may allocate; when it cannot, events go uncounted: the line at exit is
 * then wrong, nothing else.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

void tally_release(struct tally *tally)
{
    free(tally->blocks);
    free(tally->waiting);
    memset(tally, 0, sizeof *tally);
}

static size_t start_of(const struct tally *tally, uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15u) >> 20) & (tally->block_limit - 1);
}

static size_t find(const struct tally *tally, uint64_t address)
{
    size_t at = start_of(tally, address);
    while (tally->blocks[at].address && tally->blocks[at].address != address)
        at = (at + 1) & (tally->block_limit - 1);
    return at;
}

static int grow(struct tally *tally)
{
    struct tally grown = *tally;
    grown.block_limit = tally->block_limit ? tally->block_limit * 2 : 4096;
    grown.blocks = calloc(grown.block_limit, sizeof *grown.blocks);
    if (!grown.blocks)
        return -1;
    for (size_t i = 0; i < tally->block_limit; i++)
        if (tally->blocks[i].address)
            grown.blocks[find(&grown, tally->blocks[i].address)] = tally->blocks[i];
    free(tally->blocks);
    *tally = grown;
    return 0;
}

/* Removes an entry and moves back those that had to pass it (no tombstones). */
static void erase(struct tally *tally, size_t hole)
{
    const size_t mask = tally->block_limit - 1;
    for (size_t at = (hole + 1) & mask; tally->blocks[at].address; at = (at + 1) & mask) {
        const size_t start = start_of(tally, tally->blocks[at].address);
        if (((at - start) & mask) >= ((at - hole) & mask)) {
            tally->blocks[hole] = tally->blocks[at];
            hole = at;
        }
    }
    tally->blocks[hole].address = 0;
    tally->block_count--;
}

static void add(struct tally *tally, const struct tally_event *event)
{
    if (tally->block_count * 2 >= tally->block_limit && grow(tally))
        return;
    struct tally_block *block = &tally->blocks[find(tally, event->address)];
    if (!block->address)
        tally->block_count++;
    *block = (struct tally_block){event->address, event->size_bytes, event->device};
    tally->live_bytes[event->device] += event->size_bytes;
    if (tally->live_bytes[event->device] > tally->peak_bytes[event->device])
        tally->peak_bytes[event->device] = tally->live_bytes[event->device];
}

static void take_away(struct tally *tally, uint64_t address)
{
    if (!tally->block_count)
        return;
    const size_t at = find(tally, address);
    if (!tally->blocks[at].address)
        return;
    tally->live_bytes[tally->blocks[at].device] -= tally->blocks[at].size_bytes;
    erase(tally, at);
}

static void count(struct tally *tally, const struct tally_event *event)
{
    tally->next_seq = event->seq + 1;
    if (event->frees)
        take_away(tally, event->address);
    else if (event->device >= 0)
        add(tally, event);
}

/* --- order
 * ----------------------------------------------------------------------------------------- */

static const uint8_t memory_accounts[MEMORY_KIND_COUNT] = {
#define MEMORY(name, layer, account, text) ACCOUNT_##account,
#include "gpumemtrace/schema/memory.def"
};

static struct tally_event read_event(struct tally *tally, const struct ring_slot *slot)
{
    struct tally_event event = {slot->seq, slot->address, slot->size_bytes, -1, false};
    const bool outermost_alloc = slot->kind == EVENT_ALLOC && !slot->nested;
    event.frees = slot->kind == EVENT_FREE && slot->result == 0;
    if (outermost_alloc && slot->result != 0)
        tally->failed_allocations++;
    else if (outermost_alloc && memory_accounts[slot->memory] == ACCOUNT_device &&
             slot->device < TALLY_DEVICES)
        event.device = slot->device;
    return event;
}

static int reserve(struct tally *tally, size_t limit)
{
    if (limit <= tally->waiting_limit)
        return 0;
    struct tally_event *grown = realloc(tally->waiting, limit * sizeof *grown);
    if (!grown)
        return -1;
    tally->waiting = grown;
    tally->waiting_limit = limit;
    return 0;
}

/* Both are ascending; merged from the back, so that nothing is overwritten before it is moved. */
static void merge(struct tally *tally, const struct store_event *events, size_t event_count)
{
    size_t old = tally->waiting_count, fresh = event_count, to = old + fresh;
    tally->waiting_count = to;
    while (fresh) {
        if (old && tally->waiting[old - 1].seq > events[fresh - 1].slot->seq)
            tally->waiting[--to] = tally->waiting[--old];
        else
            tally->waiting[--to] = read_event(tally, events[--fresh].slot);
    }
}

static void count_ready(struct tally *tally, size_t waiting_max)
{
    size_t done = 0;
    while (done < tally->waiting_count && (tally->waiting[done].seq <= tally->next_seq ||
                                           tally->waiting_count - done > waiting_max))
        count(tally, &tally->waiting[done++]);
    if (!done)
        return;
    tally->waiting_count -= done;
    memmove(tally->waiting, tally->waiting + done, tally->waiting_count * sizeof *tally->waiting);
}

void tally_add(struct tally *tally, const struct store_event *events, size_t count_of_events)
{
    if (!tally->next_seq)
        tally->next_seq = 1;
    if (reserve(tally, tally->waiting_count + count_of_events))
        return;
    merge(tally, events, count_of_events);
    count_ready(tally, TALLY_WAITING_MAX);
}

void tally_finish(struct tally *tally)
{
    if (tally->waiting_count)
        count_ready(tally, 0);
}
