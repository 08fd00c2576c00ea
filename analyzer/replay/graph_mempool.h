/* SPDX-License-Identifier: MIT */
/* Represents a device's mempool for graphs as one block, whose size is what the mempool reports
 * that it holds. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H
#define GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H

#include "blocks.h"

/* Handles the current event, which reports the usage of its device's mempool for graphs. */
int graph_mempool_report(struct blocks *blocks);

#endif
