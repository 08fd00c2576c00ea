/* SPDX-License-Identifier: MIT */
/*
 * Decides when calls are made: at once, or, between ncclGroupStart and ncclGroupEnd of the same
 * thread, at the group's end. At the end of a group, each call gives its contents before any call
 * waits.
 */
#pragma once

#include "operation.h"

/* Returns a status of NCCL. */
int group_do(struct operation operation);
