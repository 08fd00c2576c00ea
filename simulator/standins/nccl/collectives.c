/* SPDX-License-Identifier: MIT */
/*
 * NCCL's calls that move contents. Each makes a struct operation for group.h.
 */
#include "group.h"
#include "simulator/standins/standin.h"

/* Members that every call has except sends and receives. */
#define OPERATION(operation_kind, ...)                                                             \
    group_do((struct operation){.kind = OPERATION_##operation_kind,                                \
                                .count = count,                                                    \
                                .type = type,                                                      \
                                .ranks = ranks,                                                    \
                                .stream = stream,                                                  \
                                __VA_ARGS__})

STANDIN(int, ncclAllReduce,
        (const void *from, void *to, size_t count, int type, int reduction,
         struct communicator *ranks, cudaStream_t stream))
{
    return OPERATION(ALL_REDUCE, .from = from, .to = to, .reduction = reduction);
}

STANDIN(int, ncclReduce,
        (const void *from, void *to, size_t count, int type, int reduction, int root,
         struct communicator *ranks, cudaStream_t stream))
{
    return OPERATION(REDUCE, .from = from, .to = to, .reduction = reduction, .root = root);
}

STANDIN(int, ncclReduceScatter,
        (const void *from, void *to, size_t count, int type, int reduction,
         struct communicator *ranks, cudaStream_t stream))
{
    return OPERATION(REDUCE_SCATTER, .from = from, .to = to, .reduction = reduction);
}

STANDIN(int, ncclAllGather,
        (const void *from, void *to, size_t count, int type, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(ALL_GATHER, .from = from, .to = to);
}

STANDIN(int, ncclBroadcast,
        (const void *from, void *to, size_t count, int type, int root, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(BROADCAST, .from = from, .to = to, .root = root);
}

STANDIN(int, ncclBcast,
        (void *place, size_t count, int type, int root, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(BROADCAST, .from = place, .to = place, .root = root);
}

STANDIN(int, ncclGather,
        (const void *from, void *to, size_t count, int type, int root, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(GATHER, .from = from, .to = to, .root = root);
}

STANDIN(int, ncclAlltoAll,
        (const void *from, void *to, size_t count, int type, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(ALL_TO_ALL, .from = from, .to = to);
}

STANDIN(int, ncclSend,
        (const void *from, size_t count, int type, int peer, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(SEND, .from = from, .root = peer);
}

STANDIN(int, ncclRecv,
        (void *to, size_t count, int type, int peer, struct communicator *ranks,
         cudaStream_t stream))
{
    return OPERATION(RECEIVE, .to = to, .root = peer);
}
