/* SPDX-License-Identifier: MIT */
/*
 * NCCL's collectives, as if every rank held what this one holds: a sum is this rank's times the
 * number of ranks, what another rank sends is unknown. It must not know how contents are kept.
 */
#include "nccl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "standin.h"

enum { SUCCESS = 0, REDUCE_SUM = 0, REDUCE_PRODUCT = 1, REDUCE_AVERAGE = 4 };
enum { TYPE_INT32 = 2, TYPE_INT64 = 4, TYPE_FLOAT = 7, TYPE_DOUBLE = 8 };

static size_t type_bytes(int type)
{
    static const unsigned char bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 1;
}

typedef int read_function(uint64_t address, unsigned rank, const int64_t *shape,
                          const int64_t *strides, unsigned element_bytes, void *elements);
typedef void write_function(uint64_t address, unsigned rank, const int64_t *shape,
                            const int64_t *strides, unsigned element_bytes, const void *elements,
                            int state);

/* The functions of simulator/values.h; the simulated driver is loaded wherever this is. */
static bool contents_find(read_function **read, write_function **write)
{
    void *found[] = {dlsym(RTLD_DEFAULT, "gpumemtrace_values_read"),
                     dlsym(RTLD_DEFAULT, "gpumemtrace_values_write")};
    memcpy(read, &found[0], sizeof *read);
    memcpy(write, &found[1], sizeof *write);
    return found[0] && found[1];
}

static void element_multiply(void *element, int type, int factor)
{
    union {
        int32_t int32;
        int64_t int64;
        float single;
        double twofold;
    } value;
    memcpy(&value, element, type_bytes(type));
    if (type == TYPE_INT32)
        value.int32 *= factor;
    else if (type == TYPE_INT64)
        value.int64 *= factor;
    else if (type == TYPE_FLOAT)
        value.single *= (float)factor;
    else
        value.twofold *= factor;
    memcpy(element, &value, type_bytes(type));
}

static void forget(void *to, size_t bytes)
{
    read_function *read;
    write_function *write;
    const int64_t shape = (int64_t)bytes, stride = 1;
    if (contents_find(&read, &write))
        write((uintptr_t)to, 1, &shape, &stride, 1, NULL, 0);
}

/* What is larger is unknown, as for copies. */
#define MULTIPLIED_BYTES_MAX ((size_t)1 << 20)

/* to = from × factor, where the elements are known. */
static void multiply(void *to, const void *from, size_t count, int type, int factor)
{
    read_function *read;
    write_function *write;
    const size_t bytes = count * type_bytes(type);
    const int64_t shape = (int64_t)count, stride = 1;
    const bool can =
        type == TYPE_INT32 || type == TYPE_INT64 || type == TYPE_FLOAT || type == TYPE_DOUBLE;
    char *elements = can && bytes <= MULTIPLIED_BYTES_MAX ? malloc(bytes + 1) : NULL;
    if (!elements || !contents_find(&read, &write)) {
        free(elements);
        forget(to, bytes);
        return;
    }
    const int state =
        read((uintptr_t)from, 1, &shape, &stride, (unsigned)type_bytes(type), elements);
    for (size_t i = 0; i < count; i++)
        element_multiply(elements + i * type_bytes(type), type, factor);
    write((uintptr_t)to, 1, &shape, &stride, (unsigned)type_bytes(type), elements, state);
    free(elements);
}

static void copy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    if (to != from && bytes)
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

static void reduce(void *to, const void *from, size_t count, int type, int operation, int ranks,
                   cudaStream_t stream)
{
    const bool keeps = ranks == 1 || (operation > REDUCE_PRODUCT && operation <= REDUCE_AVERAGE);
    if (keeps)
        copy(to, from, count * type_bytes(type), stream);
    else if (operation == REDUCE_SUM)
        multiply(to, from, count, type, ranks);
    else
        forget(to, count * type_bytes(type));
}

STANDIN(int, ncclAllReduce,
        (const void *from, void *to, size_t count, int type, int operation,
         const struct communicator *ranks, cudaStream_t stream))
{
    reduce(to, from, count, type, operation, ranks->rank_count, stream);
    return SUCCESS;
}

STANDIN(int, ncclReduce,
        (const void *from, void *to, size_t count, int type, int operation, int root,
         const struct communicator *ranks, cudaStream_t stream))
{
    if (ranks->rank == root)
        reduce(to, from, count, type, operation, ranks->rank_count, stream);
    return SUCCESS;
}

STANDIN(int, ncclReduceScatter,
        (const void *from, void *to, size_t count, int type, int operation,
         const struct communicator *ranks, cudaStream_t stream))
{
    const char *own = (const char *)from + (size_t)ranks->rank * count * type_bytes(type);
    reduce(to, own, count, type, operation, ranks->rank_count, stream);
    return SUCCESS;
}

STANDIN(int, ncclAllGather,
        (const void *from, void *to, size_t count, int type, const struct communicator *ranks,
         cudaStream_t stream))
{
    const size_t bytes = count * type_bytes(type);
    for (int rank = 0; rank < ranks->rank_count; rank++)
        copy((char *)to + (size_t)rank * bytes, from, bytes, stream);
    return SUCCESS;
}

STANDIN(int, ncclBroadcast,
        (const void *from, void *to, size_t count, int type, int root,
         const struct communicator *ranks, cudaStream_t stream))
{
    if (ranks->rank == root)
        copy(to, from, count * type_bytes(type), stream);
    return SUCCESS;
}

STANDIN(int, ncclRecv,
        (void *to, size_t count, int type, int peer, const struct communicator *ranks,
         cudaStream_t stream))
{
    (void)peer, (void)ranks, (void)stream;
    forget(to, count * type_bytes(type));
    return SUCCESS;
}

STANDIN(int, ncclAlltoAll,
        (const void *from, void *to, size_t count, int type, const struct communicator *ranks,
         cudaStream_t stream))
{
    const size_t bytes = count * type_bytes(type);
    if (ranks->rank_count == 1)
        copy(to, from, bytes, stream);
    else
        forget(to, bytes * (size_t)ranks->rank_count);
    return SUCCESS;
}
