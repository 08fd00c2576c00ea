/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * What one allocation and one free cost the calling thread, under DEPTH native frames:
 *
 *     bench_calls malloc|cuda DEPTH BATCHES
 *
 * Prints the medians over batches of 64, in CPU ns of this thread: "alloc NS free NS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpumemtrace/cuda/abi.h"

#define BATCH 64
#define BATCHES_MAX 100000

static double alloc_ns[BATCHES_MAX], free_ns[BATCHES_MAX];
static int batches;
static volatile int use_cuda;
static volatile int depth_seen;

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void *allocate(void)
{
    void *block = NULL;
    if (!use_cuda)
        return malloc(64);
    return cudaMalloc(&block, 4096) == 0 ? block : NULL;
}

static void release(void *block)
{
    if (use_cuda)
        cudaFree(block);
    else
        free(block);
}

static void measure(void)
{
    void *blocks[BATCH];
    for (int batch = 0; batch < batches; batch++) {
        const double start = thread_ns();
        for (int i = 0; i < BATCH; i++)
            blocks[i] = allocate();
        const double middle = thread_ns();
        for (int i = 0; i < BATCH; i++)
            release(blocks[i]);
        const double end = thread_ns();
        alloc_ns[batch] = (middle - start) / BATCH;
        free_ns[batch] = (end - middle) / BATCH;
    }
}

static __attribute__((noinline)) void descend(int depth)
{
    if (depth <= 0)
        measure();
    else
        descend(depth - 1);
    depth_seen++; /* not a tail call */
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, (size_t)batches, sizeof *values, compare);
    return values[batches / 2];
}

int main(int argc, char **argv)
{
    const int own_frames = 5; /* _start, two of libc, main, measure */
    if (argc < 4)
        return 2;
    use_cuda = strcmp(argv[1], "cuda") == 0;
    batches = (int)strtol(argv[3], NULL, 10);
    if (batches < 1 || batches > BATCHES_MAX)
        return 2;
    descend((int)strtol(argv[2], NULL, 10) - own_frames);
    printf("alloc %.0f free %.0f\n", median(alloc_ns), median(free_ns));
    return 0;
}
