/* SPDX-License-Identifier: MIT */
/*
 * NCCL: communicators of one process that never communicate; nccl_collectives.c has what arrives. The
 * memory of real channels and buffers is not simulated.
 */
#include "nccl.h"

#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "standin.h"

enum { SUCCESS = 0, SYSTEM_ERROR = 2, UNIQUE_ID_BYTES = 128 };

struct unique_id {
    char bytes[UNIQUE_ID_BYTES];
};

static int communicator_add(struct communicator **created, int rank, int rank_count)
{
    *created = malloc(sizeof **created);
    if (!*created)
        return SYSTEM_ERROR;
    **created = (struct communicator){rank, rank_count};
    return SUCCESS;
}

STANDIN(int, ncclGetVersion, (int *version))
{
    *version = 22700;
    return SUCCESS;
}

STANDIN(int, ncclGetUniqueId, (struct unique_id * id))
{
    memset(id, 0, sizeof *id);
    return SUCCESS;
}

STANDIN(int, ncclCommInitRank,
        (struct communicator * *created, int rank_count, struct unique_id id, int rank))
{
    (void)id;
    return communicator_add(created, rank, rank_count);
}

STANDIN(int, ncclCommInitRankConfig,
        (struct communicator * *created, int rank_count, struct unique_id id, int rank,
         void *config))
{
    (void)config, (void)id;
    return communicator_add(created, rank, rank_count);
}

STANDIN(int, ncclCommInitAll, (struct communicator * *created, int count, const int *devices))
{
    int status = SUCCESS;
    (void)devices;
    for (int i = 0; i < count && !status; i++)
        status = communicator_add(&created[i], i, count);
    return status;
}

STANDIN(int, ncclCommSplit,
        (struct communicator * from, int color, int key, struct communicator **created,
         void *config))
{
    (void)color, (void)key, (void)config;
    return communicator_add(created, from->rank, from->rank_count);
}

STANDIN_DESTROY(ncclCommDestroy)
STANDIN_DESTROY(ncclCommAbort)

STANDIN(int, ncclCommCount, (const struct communicator *communicator, int *count))
{
    *count = communicator->rank_count;
    return SUCCESS;
}

STANDIN(int, ncclCommUserRank, (const struct communicator *communicator, int *rank))
{
    *rank = communicator->rank;
    return SUCCESS;
}

STANDIN(int, ncclCommGetAsyncError, (const struct communicator *communicator, int *error))
{
    (void)communicator;
    *error = SUCCESS;
    return SUCCESS;
}

STANDIN(int, ncclMemAlloc, (void **pointer, size_t bytes))
{
    return cudaMalloc(pointer, bytes) ? SYSTEM_ERROR : SUCCESS;
}

STANDIN(int, ncclMemFree, (void *pointer))
{
    return cudaFree(pointer) ? SYSTEM_ERROR : SUCCESS;
}

STANDIN(const char *, ncclGetErrorString, (int status))
{
    return status ? "unhandled system error" : "no error";
}

STANDIN(const char *, ncclGetLastError, (const struct communicator *communicator))
{
    (void)communicator;
    return "";
}
