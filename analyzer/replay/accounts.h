/* SPDX-License-Identifier: MIT */
/*
 * The accounts of a replay: each account sums the bytes of one kind of memory on one device, or of
 * one framework pool.
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/cursor.h"

struct accounts {
    uint32_t by_kind[DEVICE_SLOTS][ACCOUNT_COUNT];
    struct pair_map by_pool; /* first: DEVICE_SLOT; second: string id of the pool */
    unsigned pool_count;
    struct moment asked; /* copied into each new account of asked_device; see replay.h */
    int asked_device;
};
enum { ANY_DEVICE = INT32_MIN };

void accounts_init(struct accounts *accounts);
void accounts_release(struct accounts *accounts);

/* Adds the device with its accounts, unless the history has it already. */
int accounts_add_device(struct accounts *accounts, const struct cursor *at, int device);
/* Finds or adds the account for a kind of memory on a device. HISTORY_NONE: out of memory. */
uint32_t accounts_find(struct accounts *accounts, const struct cursor *at, int device,
                       enum memory_kind memory, uint64_t pool);
/* Recorded bytes that this process holds on the device now. */
uint64_t accounts_device_bytes(const struct accounts *accounts, const struct history *history,
                               int device);
/* Notes the moment if the pool has reserved more than ever, or as much with more live bytes. Called
 * when the pool's live or reserved bytes have risen. */
static inline void accounts_note_reserved(const struct cursor *at, struct account *account)
{
    if (!account->reserved_bytes || account->reserved_bytes < account->peak_reserved_bytes ||
        (account->reserved_bytes == account->peak_reserved_bytes &&
         account->live_bytes <= account->reserved_peak_live_bytes))
        return;
    account->peak_reserved_bytes = account->reserved_bytes;
    account->reserved_peak_live_bytes = account->live_bytes;
    account->reserved_peak = cursor_moment(at);
}
/* Notes a birth in a pool; see struct pool_use. */
void accounts_note_use(struct account *account);
/* Chooses each device's leading account. Called at the end of the replay. */
void accounts_finish(struct history *history);
