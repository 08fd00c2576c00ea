/* SPDX-License-Identifier: MIT */
/*
 * A device's mempool for graphs as a block: one block for each device, as large as what the mempool
 * holds. It must not know the nodes of graphs.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H
#define GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H

#include "blocks.h"

/* The current event reports the usage of its device's mempool for graphs. */
int graph_mempool_report(struct blocks *blocks);

#endif
