/* SPDX-License-Identifier: MIT */
/* Memory that a process holds and requests outside a framework's pool, from a replayed history. */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_OUTSIDE_H
#define GPUMEMTRACE_ANALYZER_WHATIF_OUTSIDE_H

#include "analyzer/replay/history/history.h"

/* Bytes that the driver's pools of the device keep beyond those handed out. */
uint64_t outside_idle_bytes(const struct history *history, int device);
/* The most that the driver would have had to hold for a refused request that did not come from the
 * pool; 0: none was refused. */
uint64_t outside_refused_bytes(const struct history *history, int device);

#endif
