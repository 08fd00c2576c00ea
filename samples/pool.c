/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * An allocator that takes one large block from the driver and hands out pieces of it, as RMM and
 * CuPy do. To the driver it is one allocation; because the allocator reports, each piece is
 * recorded with its call stack. An adaptor for RMM makes these three calls when it allocates and
 * deallocates; the manual shows one in Python.
 *
 * Simulator: make samples
 *             build/gpumemtrace run --dry-run -o pool.db -- build/samples/pool
 * Real GPU: LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
 *             build/gpumemtrace run -o pool.db -- build/samples/pool
 * Then: build/gpumemtrace report pool.db (the pool first, then the driver)
 *             build/gpumemtrace frag --at=oom:1 pool.db
 */
#include <stdbool.h>
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)

enum { PIECES = 32 };
static const size_t piece_bytes = 2 * MIB;

static char *memory; /* of PIECES pieces */
static bool taken[PIECES];

static bool is_free(size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (taken[i])
            return false;
    return true;
}

static void mark(size_t first, size_t count, bool as)
{
    for (size_t i = first; i < first + count; i++)
        taken[i] = as;
}

/* Takes the first run of free pieces that is long enough. */
static void *pool_allocate(size_t bytes)
{
    const size_t count = (bytes + piece_bytes - 1) / piece_bytes;
    for (size_t first = 0; first + count <= PIECES; first++)
        if (is_free(first, count)) {
            mark(first, count, true);
            gpumemtrace_pool_alloc("rmm", 0, memory + first * piece_bytes, count * piece_bytes);
            return memory + first * piece_bytes;
        }
    gpumemtrace_pool_oom("rmm", 0, bytes);
    return NULL;
}

static void pool_deallocate(void *address, size_t bytes)
{
    gpumemtrace_pool_free("rmm", 0, address);
    mark((size_t)((char *)address - memory) / piece_bytes, (bytes + piece_bytes - 1) / piece_bytes,
         false);
}

int main(void)
{
    void *columns[PIECES / 2], *wanted;
    if (cudaMalloc((void **)&memory, PIECES * piece_bytes) != cudaSuccess) {
        fprintf(stderr, "pool: needs a device with 64 MiB free\n");
        return 1;
    }
    for (int i = 0; i < PIECES / 2; i++)
        columns[i] = pool_allocate(3 * MIB);
    for (int i = 0; i < PIECES / 2; i += 2)
        pool_deallocate(columns[i], 3 * MIB);
    wanted = pool_allocate(16 * MIB);
    printf("half of 64 MiB is free; 16 MiB in one piece: %s\n", wanted ? "given" : "none");
    return wanted ? 1 : 0;
}
