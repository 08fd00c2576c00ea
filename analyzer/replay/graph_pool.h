/* SPDX-License-Identifier: MIT */
/*
 * A device's pool for graphs as a block: one block for each device, as large as what the pool holds
 * of the device. It must not know the nodes of graphs.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_POOL_H
#define GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_POOL_H

#include "blocks.h"

/* The current event reports the usage of its device's pool for graphs. */
int graph_pool_report(struct blocks *blocks);

#endif
