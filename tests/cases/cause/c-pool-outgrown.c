/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * An inference loop with a pool of device buffers of its own: a buffer that is free and large
 * enough is used again, else a new one is taken. Each pass converts keys and values of all tokens
 * so far into two scratch buffers. "decode fixed" sizes them for the longest context.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

enum {
    SLOTS = 256,
    FIRST_TOKENS = 4096,
    LAST_TOKENS = 65536,
    PASS_TOKENS = 256,
    TOKEN_BYTES = 8 * 128 * 2
};

struct slot {
    void *data;
    size_t size;
    int in_use;
};

static struct slot pool[SLOTS];
static size_t taken_bytes;

static struct slot *smallest_that_fits(size_t size)
{
    struct slot *best = NULL;
    for (int i = 0; i < SLOTS; i++)
        if (pool[i].data && !pool[i].in_use && pool[i].size >= size &&
            (!best || pool[i].size < best->size))
            best = &pool[i];
    return best;
}

static struct slot *take_new(size_t size)
{
    const size_t with_margin = (size + size / 20 + 255) / 256 * 256;
    for (int i = 0; i < SLOTS; i++)
        if (!pool[i].data) {
            if (cudaMalloc(&pool[i].data, with_margin) != cudaSuccess)
                return NULL;
            pool[i].size = with_margin;
            taken_bytes += with_margin;
            return &pool[i];
        }
    return NULL;
}

static struct slot *pool_take(size_t size)
{
    struct slot *slot = smallest_that_fits(size);
    if (!slot)
        slot = take_new(size);
    if (slot)
        slot->in_use = 1;
    return slot;
}

static void pool_give(struct slot *slot)
{
    if (slot)
        slot->in_use = 0;
}

static int attend(size_t tokens)
{
    struct slot *keys_scratch = pool_take(tokens * TOKEN_BYTES);
    struct slot *values_scratch = pool_take(tokens * TOKEN_BYTES);
    const int done = keys_scratch && values_scratch;
    pool_give(keys_scratch);
    pool_give(values_scratch);
    return done;
}

int main(int argc, char **argv)
{
    const int fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    void *weights;
    if (cudaMalloc(&weights, (size_t)512 << 20) != cudaSuccess)
        return 2;
    for (size_t tokens = FIRST_TOKENS; tokens <= LAST_TOKENS; tokens += PASS_TOKENS)
        if (!attend(fixed ? LAST_TOKENS : tokens)) {
            printf("no scratch for %zu tokens; the pool has %zu MiB\n", tokens, taken_bytes >> 20);
            return 1;
        }
    printf("%d tokens; the pool has %zu MiB\n", LAST_TOKENS, taken_bytes >> 20);
    cudaFree(weights);
    return 0;
}
