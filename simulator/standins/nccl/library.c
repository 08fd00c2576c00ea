/* SPDX-License-Identifier: MIT */
/*
 * NCCL's other functions: communicators, memory, failures. Memory of NCCL's channels and buffers is
 * not simulated.
 */
#include <limits.h>
#include <string.h>

#include "group.h"
#include "simulator/standins/standin.h"

enum { VERSION = 22700, SPLIT = INT_MAX };

STANDIN(int, ncclGetVersion, (int *version))
{
    *version = VERSION;
    return NCCL_SUCCESS;
}

/* --- communicators --- */

STANDIN(int, ncclGetUniqueId, (struct region_key * key))
{
    struct err err;
    return region_make_key(key, &err) ? nccl_fail(NCCL_SYSTEM_ERROR, &err) : NCCL_SUCCESS;
}

/* Joins a communicator. Waits for all ranks, in a group at its end. */
static int join(struct communicator **created, int rank, int rank_count,
                const struct region_key *key)
{
    const int status = communicator_open(created, rank, rank_count, key);
    return status ? status
                  : group_do((struct operation){.kind = OPERATION_JOIN, .ranks = *created});
}

STANDIN(int, ncclCommInitRank,
        (struct communicator * *created, int rank_count, struct region_key key, int rank))
{
    return join(created, rank, rank_count, &key);
}

STANDIN(int, ncclCommInitRankConfig,
        (struct communicator * *created, int rank_count, struct region_key key, int rank,
         void *config))
{
    (void)config;
    return join(created, rank, rank_count, &key);
}

STANDIN(int, ncclCommInitRankScalable,
        (struct communicator * *created, int rank_count, int rank, int key_count,
         const struct region_key *keys, void *config))
{
    (void)config;
    return key_count > 0 ? join(created, rank, rank_count, keys) : NCCL_INVALID_ARGUMENT;
}

STANDIN(int, ncclCommInitAll, (struct communicator * *created, int count, const int *devices))
{
    struct region_key key;
    int status = ncclGetUniqueId(&key);
    (void)devices;
    for (int i = 0; i < count && !status; i++)
        status = communicator_open(&created[i], i, count, &key);
    return status;
}

/* The new communicator that a rank joins (color) and its order there. If the rank is the first one
 * of the new communicator, all use its key. */
struct choice {
    int color, order;
    struct region_key key;
};

/* Sends this rank's choice and receives those of the others. Returns a status of NCCL. */
static int choices_exchange(struct communicator *from, struct choice *choices)
{
    const struct message own = {
        .number = ++from->calls, .data_bytes = sizeof *choices, .kind = SPLIT};
    struct message message;
    struct err err;
    if (from->is_alone) {
        for (int rank = 0; rank < from->rank_count; rank++)
            choices[rank] = choices[from->rank];
        return NCCL_SUCCESS;
    }
    lanes_post(&from->lanes, LANES_TO_ALL, &own, &choices[from->rank]);
    for (int rank = 0; rank < from->rank_count; rank++) {
        void *data = NULL;
        if (rank == from->rank)
            continue;
        if (lanes_take_of_all(&from->lanes, (unsigned)rank, own.number, &message, &data, &err))
            return nccl_fail(NCCL_REMOTE_ERROR, &err);
        if (!data || message.data_bytes != sizeof *choices) {
            free(data);
            err_set(&err, ERR_INPUT, "rank %d calls CommSplit, rank %d another function",
                    from->rank, rank);
            return nccl_fail(NCCL_INVALID_USAGE, &err);
        }
        memcpy(&choices[rank], data, sizeof *choices);
        free(data);
    }
    return NCCL_SUCCESS;
}

/* Joins the ranks with the same color, in their order. */
static int choices_join(const struct communicator *from, const struct choice *choices,
                        struct communicator **created)
{
    const struct choice *own = &choices[from->rank], *first = NULL;
    int rank = 0, rank_count = 0;
    for (int i = 0; i < from->rank_count; i++) {
        if (choices[i].color != own->color)
            continue;
        rank_count++;
        rank += choices[i].order < own->order || (choices[i].order == own->order && i < from->rank);
        if (!first || choices[i].order < first->order)
            first = &choices[i];
    }
    const int status = own->color < 0 ? NCCL_SUCCESS : join(created, rank, rank_count, &first->key);
    if (first != own || own->color < 0)
        region_drop_key(&own->key);
    return status;
}

STANDIN(int, ncclCommSplit,
        (struct communicator * from, int color, int order, struct communicator **created,
         void *config))
{
    struct choice *choices = calloc((size_t)from->rank_count, sizeof *choices);
    int status = choices ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
    (void)config;
    *created = NULL;
    if (!status)
        status = ncclGetUniqueId(&choices[from->rank].key);
    if (!status) {
        choices[from->rank].color = color;
        choices[from->rank].order = order;
        status = choices_exchange(from, choices);
    }
    if (!status)
        status = choices_join(from, choices, created);
    free(choices);
    return status;
}

STANDIN(int, ncclCommDestroy, (struct communicator * communicator))
{
    communicator_close(communicator);
    return NCCL_SUCCESS;
}

/* Does not free the communicator, because another thread may be waiting in it. */
STANDIN(int, ncclCommAbort, (struct communicator * communicator))
{
    if (!communicator || communicator->is_alone)
        return NCCL_SUCCESS;
    atomic_store(&communicator->lanes.aborted, true);
    region_ring(communicator->lanes.region);
    return NCCL_SUCCESS;
}

STANDIN(int, ncclCommCount, (const struct communicator *communicator, int *count))
{
    *count = communicator->rank_count;
    return NCCL_SUCCESS;
}

STANDIN(int, ncclCommUserRank, (const struct communicator *communicator, int *rank))
{
    *rank = communicator->rank;
    return NCCL_SUCCESS;
}

STANDIN(int, ncclCommGetAsyncError, (const struct communicator *communicator, int *error))
{
    (void)communicator;
    *error = NCCL_SUCCESS;
    return NCCL_SUCCESS;
}

/* --- memory, failures --- */

STANDIN(int, ncclMemAlloc, (void **pointer, size_t bytes))
{
    *pointer = standin_take_memory(bytes);
    return *pointer ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

STANDIN(int, ncclMemFree, (void *pointer))
{
    return cudaFree(pointer) ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

STANDIN(const char *, ncclGetErrorString, (int status))
{
    switch (status) {
    case NCCL_SUCCESS:
        return "no error";
    case NCCL_INVALID_ARGUMENT:
        return "invalid argument";
    case NCCL_INVALID_USAGE:
        return "invalid usage";
    case NCCL_REMOTE_ERROR:
        return "remote process exited or there was a network error";
    default:
        return "unhandled system error";
    }
}

STANDIN(const char *, ncclGetLastError, (const struct communicator *communicator))
{
    (void)communicator;
    return nccl_last_failure();
}
