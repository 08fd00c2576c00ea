/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Runs a loop of 120 steps that leaks, or only seems to leak: `loops losses | error_path | unmarked
 * | cache_fills | cache_empties | batch_varies`. Each step also allocates and frees 8 MiB of work.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define KIB ((size_t)1 << 10)
enum { STEPS = 120 };

static void *kept[STEPS];
static int kept_count;

static void *take(size_t kibibytes)
{
    void *block = NULL;
    if (cudaMalloc(&block, kibibytes * KIB) != 0)
        exit(9);
    return block;
}

static void work(void)
{
    cudaFree(take(8 * KIB));
}

/* --- leaks --- */

static void losses(int step)
{
    work();
    kept[kept_count++] = take(256);
    gpumemtrace_step((uint64_t)step + 1);
}

/* Every seventh batch is bad, and its buffer is not freed. */
static void error_path(int step)
{
    gpumemtrace_push("step");
    void *batch = take(512);
    work();
    if (step % 7 != 6)
        cudaFree(batch);
    gpumemtrace_pop();
}

/* The ends of steps are not marked. */
static void unmarked(int step)
{
    (void)step;
    void *batch = take(1024);
    work();
    kept[kept_count++] = take(64);
    cudaFree(batch);
}

/* --- no leaks --- */

/* A cache gets one entry for each of 24 shapes, made when the shape is first seen. */
static void cache_fills(int step)
{
    work();
    if (kept_count < 24 && step % 2 == 0)
        kept[kept_count++] = take(512);
    gpumemtrace_step((uint64_t)step + 1);
}

static void cache_empties(int step)
{
    work();
    kept[kept_count++] = take(512);
    while (kept_count == 16)
        for (; kept_count; kept_count--)
            cudaFree(kept[kept_count - 1]);
    gpumemtrace_step((uint64_t)step + 1);
}

/* Each batch has another length and lives until the next batch exists. */
static void batch_varies(int step)
{
    void *batch = take(512 + (size_t)(step * 41 % 101) * 64);
    work();
    cudaFree(kept[0]);
    kept[0] = batch;
    gpumemtrace_step((uint64_t)step + 1);
}

static const struct {
    const char *name;
    void (*step)(int step);
} loops[] = {
    {"losses", losses},           {"error_path", error_path},       {"unmarked", unmarked},
    {"cache_fills", cache_fills}, {"cache_empties", cache_empties}, {"batch_varies", batch_varies},
};

int main(int argc, char **argv)
{
    void *model = take(64 * KIB);
    for (size_t i = 0; argc > 1 && i < sizeof loops / sizeof *loops; i++)
        for (int step = 0; step < STEPS && !strcmp(argv[1], loops[i].name); step++)
            loops[i].step(step);
    cudaFree(model);
    return 0;
}
