/* SPDX-License-Identifier: MIT */
/* Represents the memory that graphs use of a device's mempool for graphs as one block. The rest of
 * the mempool is idle, as in every mempool of the driver. */
#pragma once

#include "blocks.h"

/* Handles the current event, which reports the usage of its device's mempool for graphs. */
int graph_mempool_report(struct blocks *blocks);
