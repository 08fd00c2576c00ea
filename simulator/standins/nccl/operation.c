/* SPDX-License-Identifier: MIT */
/*
 * How ranks give and take contents. See operation.h.
 */
#include "operation.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "reduction.h"

enum { EVERYONE, ROOT };

/* For each kind: the ranks that give contents and the ranks that take them. */
static const struct kind_row {
    const char *name;
    bool for_each; /* each rank gives count elements to every rank */
    unsigned char givers, takers;
} kinds[] = {
    [OPERATION_JOIN] = {"CommInitRank", false, EVERYONE, EVERYONE},
    [OPERATION_ALL_REDUCE] = {"AllReduce", false, EVERYONE, EVERYONE},
    [OPERATION_REDUCE] = {"Reduce", false, EVERYONE, ROOT},
    [OPERATION_REDUCE_SCATTER] = {"ReduceScatter", true, EVERYONE, EVERYONE},
    [OPERATION_ALL_GATHER] = {"AllGather", false, EVERYONE, EVERYONE},
    [OPERATION_BROADCAST] = {"Broadcast", false, ROOT, EVERYONE},
    [OPERATION_GATHER] = {"Gather", false, EVERYONE, ROOT},
    [OPERATION_ALL_TO_ALL] = {"AlltoAll", true, EVERYONE, EVERYONE},
    [OPERATION_SEND] = {"Send", false, EVERYONE, EVERYONE},
    [OPERATION_RECEIVE] = {"Recv", false, EVERYONE, EVERYONE},
};

static bool is_between_two(const struct operation *operation)
{
    return operation->kind == OPERATION_SEND || operation->kind == OPERATION_RECEIVE;
}

static bool is_reduction(const struct operation *operation)
{
    return operation->kind == OPERATION_ALL_REDUCE || operation->kind == OPERATION_REDUCE ||
           operation->kind == OPERATION_REDUCE_SCATTER;
}

static size_t part_bytes(const struct operation *operation)
{
    return operation->count * element_bytes(operation->type);
}

static size_t given_bytes(const struct operation *operation)
{
    const size_t ranks = kinds[operation->kind].for_each ? (size_t)operation->ranks->rank_count : 1;
    return part_bytes(operation) * ranks;
}

static bool is_among(unsigned char whom, const struct operation *operation)
{
    return whom == EVERYONE || operation->root == operation->ranks->rank;
}

/* --- giving --- */

static struct message message_of(const struct operation *operation)
{
    return (struct message){.number = operation->number,
                            .count = operation->count,
                            .data_bytes = operation->given.data ? operation->given.bytes : 0,
                            .kind = (int32_t)operation->kind,
                            .type = operation->type,
                            .reduction = operation->reduction > REDUCE_MADE ? REDUCE_MADE
                                                                            : operation->reduction,
                            .root = operation->root,
                            .state = (int32_t)operation->given.state};
}

/* Submits a small copy, so that the stream has work until this call. */
static void occupy_stream(const struct operation *operation)
{
    void *place = operation->to ? operation->to : (void *)(uintptr_t)operation->from;
    if (place && part_bytes(operation))
        cudaMemcpyAsync(place, place, 1, cudaMemcpyDeviceToDevice, operation->stream);
}

void operation_give(struct operation *operation)
{
    struct communicator *ranks = operation->ranks;
    const bool gives = operation->kind != OPERATION_RECEIVE && operation->kind != OPERATION_JOIN &&
                       (ranks->is_alone || is_among(kinds[operation->kind].givers, operation));
    if (operation->kind == OPERATION_JOIN)
        return;
    occupy_stream(operation);
    if (gives)
        operation->given = contents_read(operation->from, given_bytes(operation));
    if (is_reduction(operation))
        reduction_prepare(&operation->given, operation->type, operation->reduction);
    if (!is_between_two(operation))
        operation->number = ++ranks->calls;
    const struct message message = message_of(operation);
    if (ranks->is_alone || operation->kind == OPERATION_RECEIVE)
        return;
    lanes_post(&ranks->lanes, is_between_two(operation) ? (unsigned)operation->root : LANES_TO_ALL,
               &message, operation->given.data);
}

/* --- taking --- */

static void message_describe(const struct message *message, char *text, size_t text_bytes)
{
    const char *name = message->kind >= 0 && (size_t)message->kind < sizeof kinds / sizeof *kinds
                           ? kinds[message->kind].name
                           : "CommSplit";
    snprintf(text, text_bytes, "%s of %llu %s", name, (unsigned long long)message->count,
             element_name(message->type));
}

static bool messages_agree(const struct message *own, const struct message *other)
{
    if (own->kind == OPERATION_RECEIVE)
        return own->count * element_bytes(own->type) == other->count * element_bytes(other->type);
    return own->kind == other->kind && own->root == other->root &&
           own->reduction == other->reduction && own->count == other->count &&
           element_bytes(own->type) == element_bytes(other->type);
}

static int say_differ(const struct operation *operation, unsigned rank, const struct message *own,
                      const struct message *other)
{
    struct err err;
    char texts[2][80];
    message_describe(own, texts[0], sizeof texts[0]);
    message_describe(other, texts[1], sizeof texts[1]);
    if (own->root != other->root && own->kind != OPERATION_RECEIVE)
        err_set(&err, ERR_INPUT, "rank %d calls %s with root %d, rank %u %s with root %d",
                operation->ranks->rank, texts[0], own->root, rank, texts[1], other->root);
    else
        err_set(&err, ERR_INPUT,
                "rank %d calls %s, rank %u %s: all must make the same calls in the same order",
                operation->ranks->rank, texts[0], rank, texts[1]);
    return nccl_fail(NCCL_INVALID_USAGE, &err);
}

/* Takes the contents that a rank gave; the caller releases them. Returns a status of NCCL. */
static int part_take(struct operation *operation, unsigned rank, struct contents *part)
{
    struct lanes *lanes = &operation->ranks->lanes;
    const struct message own = message_of(operation);
    struct message message;
    struct err err;
    void *data;
    if (is_between_two(operation)
            ? lanes_take(lanes, rank, &message, &data, &err)
            : lanes_take_of_all(lanes, rank, operation->number, &message, &data, &err))
        return nccl_fail(NCCL_REMOTE_ERROR, &err);
    *part = (struct contents){data, message.data_bytes, (enum contents_state)message.state};
    return messages_agree(&own, &message) ? NCCL_SUCCESS
                                          : say_differ(operation, rank, &own, &message);
}

/* Writes a rank's part to its place in the output. */
static void part_put(const struct operation *operation, unsigned rank, const struct contents *part)
{
    const size_t bytes = part_bytes(operation);
    const bool in_rows =
        operation->kind == OPERATION_ALL_GATHER || operation->kind == OPERATION_GATHER;
    const bool in_columns = operation->kind == OPERATION_ALL_TO_ALL;
    contents_write((char *)operation->to + (in_rows || in_columns ? bytes * rank : 0), bytes, part,
                   in_columns ? bytes * (size_t)operation->ranks->rank : 0);
}

/* Skips the messages of ranks that this call does not wait for. */
static void pass_over(const struct operation *operation)
{
    struct communicator *ranks = operation->ranks;
    for (int rank = 0; !ranks->is_alone && rank < ranks->rank_count; rank++)
        if (rank != ranks->rank)
            lanes_pass_over(&ranks->lanes, (unsigned)rank, operation->number);
}

static int take_of_root(struct operation *operation)
{
    struct contents part = {0};
    int status = NCCL_SUCCESS;
    /* A pretended root gives the same contents as this rank would; without those, `to` is
     * unchanged. */
    if (operation->root == operation->ranks->rank || operation->ranks->is_alone) {
        if (operation->pretended)
            part_put(operation, 0, &operation->pretended->given);
        else if (operation->from && operation->from != operation->to)
            part_put(operation, 0, &operation->given);
        pass_over(operation);
        return status;
    }
    status = part_take(operation, (unsigned)operation->root, &part);
    if (!status)
        part_put(operation, 0, &part);
    contents_release(&part);
    pass_over(operation);
    return status;
}

/* The rank's part for a reduction or gather; the caller must release *taken. */
static int part_of(struct operation *operation, int rank, struct contents *taken,
                   const struct contents **part)
{
    const bool is_own = rank == operation->ranks->rank || operation->ranks->is_alone;
    *taken = (struct contents){0};
    *part = is_own ? &operation->given : taken;
    return is_own ? NCCL_SUCCESS : part_take(operation, (unsigned)rank, taken);
}

static int reduce_all(struct operation *operation)
{
    const struct communicator *ranks = operation->ranks;
    const bool has_slices = operation->kind == OPERATION_REDUCE_SCATTER;
    const size_t bytes = part_bytes(operation);
    const int parts = ranks->is_alone ? 1 : ranks->rank_count;
    struct reduction sum;
    int status = NCCL_SUCCESS;
    reduction_begin(&sum, operation->count, operation->type, operation->reduction);
    for (int rank = 0; rank < parts && !status; rank++) {
        struct contents taken;
        const struct contents *part;
        status = part_of(operation, rank, &taken, &part);
        if (!status)
            reduction_add(&sum, part, has_slices ? bytes * (size_t)ranks->rank : 0);
        contents_release(&taken);
    }
    if (ranks->is_alone)
        reduction_repeat(&sum, ranks->rank_count);
    const struct contents result = reduction_end(&sum, ranks->rank_count);
    if (!status)
        contents_write(operation->to, bytes, &result, 0);
    reduction_release(&sum);
    return status;
}

static int put_all(struct operation *operation)
{
    int status = NCCL_SUCCESS;
    for (int rank = 0; rank < operation->ranks->rank_count && !status; rank++) {
        struct contents taken;
        const struct contents *part;
        status = part_of(operation, rank, &taken, &part);
        if (!status)
            part_put(operation, (unsigned)rank, part);
        contents_release(&taken);
    }
    return status;
}

static int receive(struct operation *operation)
{
    struct contents part = {0};
    if (operation->ranks->is_alone) {
        contents_write(operation->to, part_bytes(operation),
                       operation->pretended ? &operation->pretended->given : &part, 0);
        return NCCL_SUCCESS;
    }
    const int status = part_take(operation, (unsigned)operation->root, &part);
    if (!status)
        part_put(operation, 0, &part);
    contents_release(&part);
    return status;
}

int operation_take(struct operation *operation)
{
    struct communicator *ranks = operation->ranks;
    struct err err;
    switch (operation->kind) {
    case OPERATION_JOIN:
        return ranks->is_alone || !lanes_wait_for_all(&ranks->lanes, &err)
                   ? NCCL_SUCCESS
                   : nccl_fail(NCCL_REMOTE_ERROR, &err);
    case OPERATION_SEND:
        return NCCL_SUCCESS;
    case OPERATION_RECEIVE:
        return receive(operation);
    default:
        break;
    }
    if (!is_among(kinds[operation->kind].takers, operation)) {
        pass_over(operation);
        return NCCL_SUCCESS;
    }
    if (is_reduction(operation))
        return reduce_all(operation);
    return kinds[operation->kind].givers == ROOT ? take_of_root(operation) : put_all(operation);
}

void operation_release(struct operation *operation)
{
    contents_release(&operation->given);
}
