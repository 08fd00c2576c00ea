/* SPDX-License-Identifier: MIT */
/*
 * When calls are made: at once, or between ncclGroupStart and ncclGroupEnd of the same thread all at
 * its end, where each gives before one waits. It must not know what calls do.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_GROUP_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_GROUP_H

#include "operation.h"

/* Returns a status of NCCL. */
int group_do(struct operation operation);

#endif
