/* SPDX-License-Identifier: MIT */
/*
 * Reductions of the contents of ranks. See reduction.h.
 */
#include "reduction.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "communicator.h"
#include "element.h"
#include "simulator/standins/standin.h"

/* --- reductions that a program makes --- */

#define MADE_MAX 256
enum { SCALAR_ON_DEVICE = 0 };

struct made {
    bool is_used, is_known;
    double factor;
};

/* Protects the table. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made made[MADE_MAX];

static bool made_find(int reduction, struct made *found)
{
    const int index = reduction - REDUCE_MADE;
    if (index < 0 || index >= MADE_MAX)
        return false;
    pthread_mutex_lock(&lock);
    *found = made[index];
    pthread_mutex_unlock(&lock);
    return true;
}

STANDIN(int, ncclRedOpCreatePreMulSum,
        (int *created, const void *scalar, int type, int residence,
         struct communicator *communicator))
{
    struct made one = {.is_used = true};
    struct contents read = {0};
    const void *value = scalar;
    (void)communicator;
    if (residence == SCALAR_ON_DEVICE) {
        read = contents_read(scalar, element_bytes(type));
        value = read.data;
    }
    one.is_known = value && element_is_number(type);
    one.factor = one.is_known ? element_value(value, type) : 1;
    contents_release(&read);
    pthread_mutex_lock(&lock);
    int index = 0;
    while (index < MADE_MAX && made[index].is_used)
        index++;
    if (index < MADE_MAX)
        made[index] = one;
    pthread_mutex_unlock(&lock);
    *created = REDUCE_MADE + index;
    return index < MADE_MAX ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

STANDIN(int, ncclRedOpDestroy, (int reduction, struct communicator *communicator))
{
    (void)communicator;
    if (reduction < REDUCE_MADE || reduction >= REDUCE_MADE + MADE_MAX)
        return NCCL_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    made[reduction - REDUCE_MADE].is_used = false;
    pthread_mutex_unlock(&lock);
    return NCCL_SUCCESS;
}

/* --- sums --- */

void reduction_prepare(struct contents *given, int type, int reduction)
{
    struct made found;
    if (!made_find(reduction, &found) || !given->data)
        return;
    if (!found.is_known || !element_is_number(type))
        contents_release(given);
    else
        element_multiply(given->data, given->bytes / element_bytes(type), type, found.factor);
}

void reduction_begin(struct reduction *reduction, size_t count, int type, int how)
{
    *reduction = (struct reduction){.count = count, .type = type, .reduction = how};
}

void reduction_add(struct reduction *reduction, const struct contents *part, size_t skipped_bytes)
{
    const size_t bytes = reduction->count * element_bytes(reduction->type);
    const char *data = part->data;
    struct contents *sum = &reduction->sum;
    const bool is_first = !reduction->parts++;
    if (!data || !element_is_number(reduction->type) || part->bytes < skipped_bytes + bytes) {
        contents_release(sum);
        return;
    }
    if (is_first) {
        *sum = (struct contents){malloc(bytes + 1), bytes, part->state};
        if (sum->data)
            memcpy(sum->data, data + skipped_bytes, bytes);
        return;
    }
    if (!sum->data)
        return;
    element_combine(sum->data, data + skipped_bytes, reduction->count, reduction->type,
                    reduction->reduction);
    sum->state = part->state < sum->state ? part->state : sum->state;
}

void reduction_repeat(struct reduction *reduction, int rank_count)
{
    const struct contents part = reduction->sum;
    if (!part.data || reduction->reduction == REDUCE_MAX || reduction->reduction == REDUCE_MIN)
        return;
    if (reduction->reduction != REDUCE_PRODUCT) {
        element_multiply(part.data, reduction->count, reduction->type, rank_count);
        return;
    }
    void *own = malloc(part.bytes + 1);
    if (!own) {
        contents_release(&reduction->sum);
        return;
    }
    memcpy(own, part.data, part.bytes);
    for (int i = 1; i < rank_count; i++)
        element_combine(part.data, own, reduction->count, reduction->type, REDUCE_PRODUCT);
    free(own);
}

struct contents reduction_end(struct reduction *reduction, int rank_count)
{
    if (reduction->sum.data && reduction->reduction == REDUCE_AVERAGE)
        element_divide(reduction->sum.data, reduction->count, reduction->type, rank_count);
    return reduction->sum;
}

void reduction_release(struct reduction *reduction)
{
    contents_release(&reduction->sum);
}
