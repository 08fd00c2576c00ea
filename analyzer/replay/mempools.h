/* SPDX-License-Identifier: MIT */
/*
 * The mempools of the driver: the stream-ordered ones, and each device's mempool for graphs. Knows
 * the usage that they report, and the bytes that are allocated from them.
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/cursor.h"

/* A zeroed struct is empty and ready for use. */
struct mempools {
    struct pair_map numbers; /* by handle; for mempools for graphs: by DEVICE_SLOT */
};

void mempools_release(struct mempools *mempools);

/* Finds the mempool that the current event has in `object`, and adds it if it is new. HISTORY_NONE:
 * out of memory. */
uint32_t mempools_find(struct mempools *mempools, const struct cursor *at);
/* Finds the mempool for graphs of the event's device, and adds it if it is new. HISTORY_NONE: out
 * of memory. */
uint32_t mempools_find_graph(struct mempools *mempools, const struct cursor *at);

int mempools_create(struct mempools *mempools, const struct cursor *at);
int mempools_destroy(struct mempools *mempools, const struct cursor *at);
/* Handles the current event, which reports the mempool's usage. */
int mempools_report(const struct cursor *at, uint32_t mempool);

/* Call it whenever a block begins or ends. It does nothing for blocks of no mempool. */
void mempools_count(const struct cursor *at, const struct block *block, bool birth);
