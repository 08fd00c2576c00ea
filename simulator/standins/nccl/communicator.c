/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing communicators. See communicator.h.
 */
#include "communicator.h"

#include <stdlib.h>
#include <string.h>

/* Returned to a thread that asks for the cause of a failure. */
static _Thread_local struct err last_failure;

int nccl_fail(int status, const struct err *err)
{
    last_failure = *err;
    return status;
}

const char *nccl_last_failure(void)
{
    return last_failure.message;
}

static bool others_are_pretended(void)
{
    const char *rank = getenv("GPUMEMTRACE_SIM_RANK");
    return rank && *rank;
}

int communicator_open(struct communicator **created, int rank, int rank_count,
                      const struct region_key *key)
{
    struct err err;
    if (rank < 0 || rank >= rank_count) {
        err_set(&err, ERR_INPUT, "rank %d of %d", rank, rank_count);
        return nccl_fail(NCCL_INVALID_ARGUMENT, &err);
    }
    struct communicator *made = calloc(1, sizeof *made);
    if (!made) {
        err_set(&err, ERR_SYSTEM, "out of memory for a communicator");
        return nccl_fail(NCCL_SYSTEM_ERROR, &err);
    }
    made->rank = rank;
    made->rank_count = rank_count;
    made->is_alone = rank_count == 1 || others_are_pretended();
    if (!made->is_alone &&
        lanes_open(&made->lanes, key, (unsigned)rank, (unsigned)rank_count, &err)) {
        free(made);
        return nccl_fail(NCCL_SYSTEM_ERROR, &err);
    }
    *created = made;
    return NCCL_SUCCESS;
}

void communicator_close(struct communicator *communicator)
{
    if (communicator)
        lanes_close(&communicator->lanes);
    free(communicator);
}
