/* SPDX-License-Identifier: MIT */
/*
 * A rank of a communicator. Either the other ranks are on this machine, or this rank is alone and
 * the others are pretended (GPUMEMTRACE_SIM_RANK): they give the same contents as this rank. Also
 * keeps the last failure on each thread.
 */
#pragma once

#include <stdbool.h>

#include "lanes.h"

enum nccl_status {
    NCCL_SUCCESS = 0,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6
};

struct communicator {
    int rank, rank_count;
    bool is_alone;      /* the other ranks are pretended */
    struct lanes lanes; /* unless is_alone */
    uint64_t calls;     /* number of calls of all ranks so far */
};

/* Does not wait for the other ranks. Returns a status of NCCL. */
int communicator_open(struct communicator **created, int rank, int rank_count,
                      const struct region_key *key);
void communicator_close(struct communicator *communicator);

/* Stores the text for ncclGetLastError and returns the status. */
int nccl_fail(int status, const struct err *err);
const char *nccl_last_failure(void);
