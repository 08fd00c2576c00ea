/* SPDX-License-Identifier: MIT */
/* A device's mempool for graphs, as one block with the size that the mempool reports as held. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H
#define GPUMEMTRACE_ANALYZER_REPLAY_GRAPH_MEMPOOL_H

#include "blocks.h"

/* The current event reports the usage of its device's mempool for graphs. */
int graph_mempool_report(struct blocks *blocks);

#endif
