/* SPDX-License-Identifier: MIT */
/*
 * One call of NCCL by one rank, in two steps: operation_give, which does not wait, and
 * operation_take, which waits for the ranks that it takes contents from.
 */
#pragma once

#include "communicator.h"
#include "contents.h"
#include "gpumemtrace/cuda/abi.h"

enum operation_kind {
    OPERATION_JOIN, /* every rank has joined */
    OPERATION_ALL_REDUCE,
    OPERATION_REDUCE,
    OPERATION_REDUCE_SCATTER,
    OPERATION_ALL_GATHER,
    OPERATION_BROADCAST,
    OPERATION_GATHER,
    OPERATION_ALL_TO_ALL,
    OPERATION_SEND,
    OPERATION_RECEIVE,
};

struct operation {
    enum operation_kind kind;
    struct communicator *ranks;
    const void *from;
    void *to;
    size_t count; /* as the caller passes it */
    int type, reduction;
    int root; /* or the peer of a send or receive */
    cudaStream_t stream;

    /* Set by operation_give: */
    uint64_t number;
    struct contents given;
    /* Receive or broadcast from a pretended rank: what this rank sends in the same group; NULL:
     * nothing. */
    const struct operation *pretended;
};

void operation_give(struct operation *operation);
/* Returns a status of NCCL. */
int operation_take(struct operation *operation);
void operation_release(struct operation *operation);
