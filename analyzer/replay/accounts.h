/* SPDX-License-Identifier: MIT */
/*
 * The accounts of a replay: which blocks are summed together. It must not know when blocks begin or
 * end.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_ACCOUNTS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_ACCOUNTS_H

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/cursor.h"

struct accounts {
    uint32_t by_kind[DEVICE_SLOTS][ACCOUNT_COUNT];
    struct pair_map by_pool; /* first: DEVICE_SLOT; second: string id of the pool */
    unsigned pool_count;
    struct moment asked; /* new accounts of the device have it too; see replay.h */
    int asked_device;
};
enum { ANY_DEVICE = INT32_MIN };

void accounts_init(struct accounts *accounts);
void accounts_release(struct accounts *accounts);

/* Adds the device with its accounts, unless it is known. */
int accounts_add_device(struct accounts *accounts, const struct cursor *at, int device);
/* The account of a kind of memory on a device, added if it is new. HISTORY_NONE: out of memory. */
uint32_t accounts_find(struct accounts *accounts, const struct cursor *at, int device,
                       enum memory_kind memory, uint64_t pool);
/* What the process itself holds of the device now, as far as it is recorded. */
uint64_t accounts_device_bytes(const struct accounts *accounts, const struct history *history,
                               int device);
/* At the end: chooses each device's leading account. */
void accounts_finish(struct history *history);

#endif
