/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda */
/*
 * Measures what one allocation and one free cost the calling threads, when the call is DEPTH native
 * frames deep:
 *
 *     bench_calls KIND DEPTH BATCHES [THREADS]
 *
 * Prints "alloc NS free NS". Each NS is the median over batches of 64 calls, in CPU ns of the
 * thread. If there are several threads, it is the mean of their medians.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpumemtrace/cuda/abi.h"

#define BATCH 64
#define BATCHES_MAX 100000
#define THREADS_MAX 16

struct kind {
    const char *name;
    void *(*allocate)(void);
    void (*release)(void *block);
};

struct measurement {
    double alloc_ns[BATCHES_MAX], free_ns[BATCHES_MAX];
};

static const struct kind *kind;
static int batches, depth;
static volatile int depth_seen;

/* --- the calls --- */

static void *by_malloc(void)
{
    return malloc(64);
}

static void *by_cuda_malloc(void)
{
    void *block = NULL;
    return cudaMalloc(&block, 4096) == 0 ? block : NULL;
}

static void by_cuda_free(void *block)
{
    cudaFree(block);
}

static void *by_async(void)
{
    void *block = NULL;
    return cudaMallocAsync(&block, 4096, NULL) == 0 ? block : NULL;
}

static void by_free_async(void *block)
{
    cudaFreeAsync(block, NULL);
}

static void *by_pinned(void)
{
    void *block = NULL;
    return cudaMallocHost(&block, 4096) == 0 ? block : NULL;
}

static void by_free_host(void *block)
{
    cudaFreeHost(block);
}

static void *by_driver(void)
{
    CUdeviceptr block = 0;
    return cuMemAlloc_v2(&block, 4096) == CUDA_SUCCESS ? (void *)(uintptr_t)block : NULL;
}

static void by_driver_free(void *block)
{
    cuMemFree_v2((CUdeviceptr)(uintptr_t)block);
}

static void *by_virtual(void)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle = 0;
    return cuMemCreate(&handle, 2 << 20, &properties, 0) == CUDA_SUCCESS ? (void *)(uintptr_t)handle
                                                                         : NULL;
}

static void by_virtual_release(void *block)
{
    cuMemRelease((CUmemGenericAllocationHandle)(uintptr_t)block);
}

static const struct kind kinds[] = {
    {"malloc", by_malloc, free},
    {"cudaMalloc", by_cuda_malloc, by_cuda_free},
    {"cudaMallocAsync", by_async, by_free_async},
    {"cudaMallocHost", by_pinned, by_free_host},
    {"cuMemAlloc", by_driver, by_driver_free},
    {"cuMemCreate", by_virtual, by_virtual_release},
};

/* --- measuring --- */

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void measure(struct measurement *measurement)
{
    void *blocks[BATCH];
    for (int batch = 0; batch < batches; batch++) {
        const double start = thread_ns();
        for (int i = 0; i < BATCH; i++)
            blocks[i] = kind->allocate();
        const double middle = thread_ns();
        for (int i = 0; i < BATCH; i++)
            kind->release(blocks[i]);
        const double end = thread_ns();
        measurement->alloc_ns[batch] = (middle - start) / BATCH;
        measurement->free_ns[batch] = (end - middle) / BATCH;
    }
}

static __attribute__((noinline)) void descend(int frames, struct measurement *measurement)
{
    if (frames <= 0)
        measure(measurement);
    else
        descend(frames - 1, measurement);
    depth_seen++; /* prevents a tail call */
}

static void *measure_thread(void *measurement)
{
    const int own_frames = 5; /* two of libc, the start, main, measure, the call */
    cudaFree(NULL);           /* creates the context and makes it current */
    descend(depth - own_frames, measurement);
    return NULL;
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

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

int main(int argc, char **argv)
{
    static struct measurement measurements[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    double alloc_ns = 0, free_ns = 0;
    const int count = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1;
    if (argc < 4 || count < 1 || count > THREADS_MAX || !(kind = find_kind(argv[1])))
        return 2;
    depth = (int)strtol(argv[2], NULL, 10);
    batches = (int)strtol(argv[3], NULL, 10);
    if (batches < 1 || batches > BATCHES_MAX)
        return 2;
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, measure_thread, &measurements[i]);
    measure_thread(&measurements[0]);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++) {
        alloc_ns += median(measurements[i].alloc_ns) / count;
        free_ns += median(measurements[i].free_ns) / count;
    }
    printf("alloc %.0f free %.0f\n", alloc_ns, free_ns);
    return 0;
}
