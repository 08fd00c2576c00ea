/* SPDX-License-Identifier: MIT */
/*
 * Whose memory a tensor of a replayed run is: of all, or of the CUDA graphs whose capture took it.
 * Which captures share a private pool is not told: a tensor that lies in another one's memory shows
 * it. It must not know how blocks are chosen.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_GRAPHS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_GRAPHS_H

#include "whatif.h"

/* Captures and graphs; other events are ignored. */
int graphs_event(struct whatif *whatif, const struct event *event, struct err *err);

/* What the tensor's allocation asked of the device's pool. What it shows of owners and of the order
 * among equal blocks, the models know from then on. */
struct allocator_request graphs_request(struct whatif *whatif, struct whatif_device *device,
                                        const struct event *event);

#endif
