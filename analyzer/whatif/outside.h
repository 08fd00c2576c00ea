/* SPDX-License-Identifier: MIT */
/* What a process holds and asks for past a framework's pool, from a replayed history. It must not know runs of the model. */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_OUTSIDE_H
#define GPUMEMTRACE_ANALYZER_WHATIF_OUTSIDE_H

#include "analyzer/replay/history/history.h"

/* What the driver's pools of the device keep beyond what they have handed out. */
uint64_t outside_idle_bytes(const struct history *history, int device);
/* The most that the driver would have had to hold for a call that it refused, and that was not the pool's; 0: none was. */
uint64_t outside_refused_bytes(const struct history *history, int device);

#endif
