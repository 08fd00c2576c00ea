/* SPDX-License-Identifier: MIT */
/*
 * Expandable segments for a pool that reserved in excess because later requests were too large for
 * earlier segments (idle.h). The model of the allocator tells how much would have been reserved
 * with them. This takes one more replay, for such a run only.
 */
#pragma once

#include "remedies.h"

/* Fills remedies->expanded, and remedies->setting with it. Finds nothing if an allocation
 * failed. */
int expanded_find(struct remedies *remedies, const struct study *study, struct err *err);
