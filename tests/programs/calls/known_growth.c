/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Runs a loop of steps that leaks, or only seems to leak, in the way that the argument names.
 * tests/analyzer/test_leak_runs.py has the expected answers.
 */
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)

enum { STEPS = 40, KEPT_MOST = 8 };

static void *kept[KEPT_MOST];

static void *take(size_t bytes)
{
    void *address = NULL;
    return cudaMalloc(&address, bytes) ? NULL : address;
}

/* --- leaks --- */

/* The error path of every second step returns early. */
static void forgets_every_second(int step)
{
    void *scratch = take(2 * MIB);
    if (step % 2)
        return;
    cudaFree(scratch);
}

/* Each request gets a buffer, which is allocated in a stream's order and never freed. */
static void frees_on_no_stream(int step)
{
    void *request = NULL;
    (void)step;
    cudaMallocAsync(&request, 3 * MIB, NULL);
}

/* Takes pieces of a pool and never returns them. */
static void keeps_pieces(int step)
{
    static char *memory;
    static int count;
    if (!memory)
        memory = take(64 * MIB);
    gpumemtrace_pool_alloc("rmm", 0, memory + (size_t)step * MIB, MIB);
    count++; /* prevents a tail call, which would remove this frame */
    kept[0] = &count;
}

/* --- no leaks --- */

/* Keeps the last eight batches, whose sizes differ. */
static void keeps_the_last(int step)
{
    void **slot = &kept[step % KEPT_MOST];
    cudaFree(*slot);
    *slot = take((size_t)(1 + step * 7 % 5) * MIB);
}

/* Has an arena whose size doubles until it is large enough. */
static void doubles(int step)
{
    static size_t size_bytes;
    const size_t needed_bytes = (size_t)(step < 8 ? step + 1 : 8) * MIB;
    if (needed_bytes <= size_bytes)
        return;
    size_bytes = size_bytes ? 2 * size_bytes : MIB;
    cudaFree(kept[0]);
    kept[0] = take(size_bytes);
}

/* Collects for eight steps and then writes everything out. */
static void empties_itself(int step)
{
    kept[step % KEPT_MOST] = take(MIB);
    for (int i = 0; i < KEPT_MOST && step % KEPT_MOST == KEPT_MOST - 1; i++)
        cudaFree(kept[i]);
}

/* --- growing blocks --- */

/* Has a cache of tokens for each of four layers. Each step copies a cache to a block with room
   for one more token. */
static void copies_the_cache(int step)
{
    for (int layer = 0; layer < 4; layer++) {
        void *longer = take((size_t)(step + 1) * MIB);

        cudaFree(kept[layer]);
        kept[layer] = longer;
    }
}

/* Has a list that only grows. Whenever the list is full, it is copied to a block of twice the
   size. */
static void doubles_for_ever(int step)
{
    void *longer;
    if (step & (step - 1))
        return;
    longer = take((size_t)(step ? 2 * step : 1) * MIB);
    cudaFree(kept[0]);
    kept[0] = longer;
}

static const struct {
    const char *name;
    void (*step)(int);
} ways[] = {
    {"forgets_every_second", forgets_every_second},
    {"frees_on_no_stream", frees_on_no_stream},
    {"keeps_pieces", keeps_pieces},
    {"keeps_the_last", keeps_the_last},
    {"doubles", doubles},
    {"empties_itself", empties_itself},
    {"copies_the_cache", copies_the_cache},
    {"doubles_for_ever", doubles_for_ever},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int step = 0; argc == 2 && !strcmp(ways[i].name, argv[1]) && step < STEPS; step++) {
            void *batch = take(4 * MIB);

            ways[i].step(step);
            cudaFree(batch);
            gpumemtrace_step((uint64_t)step + 1);
        }
    return argc != 2;
}
