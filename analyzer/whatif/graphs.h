/* SPDX-License-Identifier: MIT */
/*
 * The owner of a tensor of a replayed run: everybody, or the CUDA graphs whose capture allocated
 * it. The trace does not say which captures share a private pool; a tensor in another capture's
 * memory shows that they do.
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_GRAPHS_H
#define GPUMEMTRACE_ANALYZER_WHATIF_GRAPHS_H

#include "whatif.h"

/* Follows captures and graphs; ignores other events. */
int graphs_event(struct whatif *whatif, const struct event *event, struct err *err);

/* Returns the request that the tensor's allocation made to the device's pool. If the event shows
 * who owns memory, or which of equal blocks is chosen, the models learn that first. */
struct allocator_request graphs_request(struct whatif *whatif, struct whatif_device *device,
                                        const struct event *event);

#endif
