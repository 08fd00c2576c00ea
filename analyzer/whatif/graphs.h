/* SPDX-License-Identifier: MIT */
/*
 * Finds the owner of a tensor in a replayed run. A tensor belongs to the CUDA graphs whose capture
 * allocated it; all other tensors have the common owner. The trace does not say which captures
 * share a private pool. If a tensor of one capture lies in memory of another, the two share one.
 */
#pragma once

#include "whatif.h"

/* Follows the beginnings and ends of captures and graphs. Ignores other events. */
int graphs_event(struct whatif *whatif, const struct event *event, struct err *err);

/* Returns the request that the tensor's allocation made to the device's pool. If the event shows
 * which owner has memory, or which of several blocks of one size is chosen, the models are changed
 * accordingly before the function returns. */
struct allocator_request graphs_request(struct whatif *whatif, struct whatif_device *device,
                                        const struct event *event);
