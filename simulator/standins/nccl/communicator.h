/* SPDX-License-Identifier: MIT */
/*
 * A rank of a communicator: among others on this machine, or alone among pretended ones
 * (GPUMEMTRACE_SIM_RANK), which give what this one gives. And what the last failure on this thread was.
 * It must not know the calls.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_COMMUNICATOR_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_COMMUNICATOR_H

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
    bool is_alone;      /* no other rank is there */
    struct lanes lanes; /* else */
    uint64_t calls;     /* of all ranks so far */
};

/* Does not wait for the others. Returns a status. */
int communicator_open(struct communicator **created, int rank, int rank_count,
                      const struct region_key *key);
void communicator_close(struct communicator *communicator);

/* Returns the status, after noting what ncclGetLastError says. */
int nccl_fail(int status, const struct err *err);
const char *nccl_last_failure(void);

#endif
