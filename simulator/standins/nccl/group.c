/* SPDX-License-Identifier: MIT */
/*
 * Calls in groups. See group.h.
 */
#include "group.h"

#include <stdlib.h>

#include "element.h"
#include "simulator/standins/standin.h"

/* Each thread has its own. */
static _Thread_local struct group {
    unsigned depth;
    struct operation *operations;
    size_t count, room;
} group;

static size_t sent_bytes(const struct operation *operation)
{
    return operation->count * element_bytes(operation->type);
}

/* The operation by which a pretended rank sends. For a receive, it is this rank's send to the
 * pretended rank in the same group, or else this rank's send to another rank. For a broadcast in a
 * group where each rank broadcasts in turn (a gather of different sizes), it is the broadcast of
 * this rank. */
static const struct operation *pretended_send(const struct operation *taking)
{
    const bool is_receive = taking->kind == OPERATION_RECEIVE;
    const struct operation *found = NULL;
    for (size_t i = 0; i < group.count; i++) {
        const struct operation *sent = &group.operations[i];
        if (sent->kind != (is_receive ? OPERATION_SEND : OPERATION_BROADCAST) ||
            sent->ranks != taking->ranks || sent_bytes(sent) != sent_bytes(taking) ||
            (!is_receive && sent->root != taking->ranks->rank))
            continue;
        if (sent->root == taking->root)
            return sent;
        found = found ? found : sent;
    }
    return found;
}

static int group_end(void)
{
    int status = NCCL_SUCCESS;
    for (size_t i = 0; i < group.count; i++)
        operation_give(&group.operations[i]);
    for (size_t i = 0; i < group.count && !status; i++) {
        struct operation *operation = &group.operations[i];
        if (operation->ranks->is_alone &&
            (operation->kind == OPERATION_RECEIVE || operation->kind == OPERATION_BROADCAST))
            operation->pretended = pretended_send(operation);
        status = operation_take(operation);
    }
    for (size_t i = 0; i < group.count; i++)
        operation_release(&group.operations[i]);
    free(group.operations);
    group = (struct group){0};
    return status;
}

int group_do(struct operation operation)
{
    struct err err;
    if (group.count == group.room) {
        const size_t room = group.room ? 2 * group.room : 16;
        struct operation *larger = realloc(group.operations, room * sizeof *larger);
        if (!larger) {
            err_set(&err, ERR_SYSTEM, "out of memory for a group of calls");
            return nccl_fail(NCCL_SYSTEM_ERROR, &err);
        }
        group.operations = larger;
        group.room = room;
    }
    group.operations[group.count++] = operation;
    return group.depth ? NCCL_SUCCESS : group_end();
}

STANDIN(int, ncclGroupStart, (void))
{
    group.depth++;
    return NCCL_SUCCESS;
}

STANDIN(int, ncclGroupEnd, (void))
{
    struct err err;
    if (!group.depth) {
        err_set(&err, ERR_INPUT, "ncclGroupEnd without ncclGroupStart");
        return nccl_fail(NCCL_INVALID_USAGE, &err);
    }
    return --group.depth ? NCCL_SUCCESS : group_end();
}
