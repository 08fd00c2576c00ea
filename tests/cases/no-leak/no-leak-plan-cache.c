/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A service that transforms recordings of different lengths. Each length needs a plan with a work
 * area; the last 16 plans are kept. "no-cache" makes each plan anew and drops it after use.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { CALLS = 120, PLANS = 16, LENGTHS = 12, SHORTEST_MIB = 48, STEP_MIB = 4 };

struct plan {
    size_t length;
    void *work_area;
    int last_use;
};

static struct plan cache[PLANS];
static size_t free_bytes, lowest_free_bytes = (size_t)-1;

static void note_free(void)
{
    size_t total_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    if (free_bytes < lowest_free_bytes)
        lowest_free_bytes = free_bytes;
}

static struct plan *plan_of(size_t length, int now)
{
    struct plan *oldest = &cache[0];
    for (int i = 0; i < PLANS; i++) {
        if (cache[i].work_area && cache[i].length == length) {
            cache[i].last_use = now;
            return &cache[i];
        }
        if (cache[i].last_use < oldest->last_use)
            oldest = &cache[i];
    }
    cudaFree(oldest->work_area);
    oldest->length = length;
    oldest->last_use = now;
    return cudaMalloc(&oldest->work_area, 2 * length) == cudaSuccess ? oldest : NULL;
}

static int transform(size_t length, int now, int cached)
{
    void *recording, *spectrum;
    if (cudaMalloc(&recording, length) != cudaSuccess ||
        cudaMalloc(&spectrum, length) != cudaSuccess)
        return 0;
    struct plan *plan = plan_of(length, now);
    if (!plan)
        return 0;
    cudaMemset(plan->work_area, 0, 2 * length);
    note_free();
    if (!cached) {
        cudaFree(plan->work_area);
        plan->work_area = NULL;
    }
    cudaFree(recording);
    cudaFree(spectrum);
    return 1;
}

int main(int argc, char **argv)
{
    const int cached = !(argc > 1 && strcmp(argv[1], "no-cache") == 0);
    for (int call = 1; call <= CALLS; call++) {
        const int known = 1 + call / 6 < LENGTHS ? 1 + call / 6 : LENGTHS;
        const size_t length = (SHORTEST_MIB + (size_t)STEP_MIB * (call * 7 % known)) * MIB;
        if (!transform(length, call, cached))
            return 1;
        note_free();
        if (call % 10 == 0)
            printf("call %d: %zu MiB free, at least %zu\n", call, free_bytes / MIB,
                   lowest_free_bytes / MIB);
    }
    return 0;
}
