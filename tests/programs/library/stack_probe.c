/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Is called from Python through ctypes. Measures a series of allocations from one Python line,
 * without the cost of the ctypes call, and measures libunwind without the recorder in the same way.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

#define BATCH 64
#define FRAMES_MAX 512

GMT_EXPORT double probe_allocations(unsigned batches);
GMT_EXPORT double probe_unwinds(unsigned batches);
GMT_EXPORT int probe_native_frames(void);

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double low(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 20];
}

/* Returns the CPU ns of one allocation. This is the 5th percentile of the batches, because other
   load on the machine only adds time. Frees between the allocations are not counted. */
double probe_allocations(unsigned batches)
{
    void *blocks[BATCH];
    double *costs = calloc(batches, sizeof *costs);
    for (unsigned batch = 0; costs && batch < batches; batch++) {
        const double start = thread_ns();
        for (int i = 0; i < BATCH; i++)
            cudaMalloc(&blocks[i], 512);
        costs[batch] = (thread_ns() - start) / BATCH;
        for (int i = 0; i < BATCH; i++)
            cudaFree(blocks[i]);
    }
    const double result = costs ? low(costs, batches) : -1;
    free(costs);
    return result;
}

typedef int backtrace_function(void **frames, int limit);

static backtrace_function *find_backtrace(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    return library ? GMT_FUNCTION(backtrace_function *, dlsym(library, "unw_backtrace")) : NULL;
}

/* Returns the CPU ns of one unw_backtrace from here, or a negative number if there is no
   libunwind. */
double probe_unwinds(unsigned batches)
{
    void *frames[FRAMES_MAX];
    backtrace_function *backtrace = find_backtrace();
    double *costs = backtrace ? calloc(batches, sizeof *costs) : NULL;
    for (unsigned batch = 0; costs && batch < batches; batch++) {
        const double start = thread_ns();
        for (int i = 0; i < BATCH; i++)
            backtrace(frames, FRAMES_MAX);
        costs[batch] = (thread_ns() - start) / BATCH;
    }
    const double result = costs ? low(costs, batches) : -1;
    free(costs);
    return result;
}

int probe_native_frames(void)
{
    void *frames[FRAMES_MAX];
    backtrace_function *backtrace = find_backtrace();
    return backtrace ? backtrace(frames, FRAMES_MAX) : 0;
}
