/* SPDX-License-Identifier: MIT */
/*
 * The stocks of a replay: which blocks are summed together, and the live bytes of each sum now. It
 * must not know when blocks begin or end.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_STOCKS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_STOCKS_H

#include "analyzer/util/address_map.h"
#include "cursor.h"

struct stocks {
    uint32_t by_account[DEVICE_SLOTS][ACCOUNT_COUNT];
    struct address_map by_pool; /* space: DEVICE_SLOT; address: string id of the pool */
    uint64_t *live_bytes;       /* by stock */
    size_t live_capacity;
};

void stocks_init(struct stocks *stocks);
void stocks_release(struct stocks *stocks);

/* Adds the device with its accounts, unless it is known. */
int stocks_add_device(struct stocks *stocks, const struct cursor *at, int device);
/* The stock of a kind of memory on a device, added if it is new. HISTORY_NONE: out of memory. */
uint32_t stocks_find(struct stocks *stocks, const struct cursor *at, int device,
                     enum memory_kind memory, uint64_t pool);
/* What the process itself holds of the device now, as far as it is recorded. */
uint64_t stocks_device_bytes(const struct stocks *stocks, int device);
/* At the end: copies the live bytes into the history and chooses each device's leading stock. */
void stocks_finish(const struct stocks *stocks, struct history *history);

#endif
