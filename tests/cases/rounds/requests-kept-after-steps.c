/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Trains for some steps, which are marked, and then serves requests. Each request's keys and values
 * stay in a list. "free" frees them when the request is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/gpumemtrace.h"
#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { STEPS = 10, REQUESTS = 14 };

struct request {
    void *keys, *values;
    struct request *next;
};

static struct request *done;

static void train(void)
{
    for (int step = 0; step < STEPS; step++) {
        void *batch, *gradient;
        cudaMalloc(&batch, 64 * MIB);
        cudaMalloc(&gradient, 32 * MIB);
        cudaFree(batch);
        cudaFree(gradient);
        gpumemtrace_step(step);
    }
}

static void serve(int frees)
{
    struct request *request = malloc(sizeof *request);
    void *scratch;
    cudaMalloc(&scratch, 16 * MIB);
    cudaMalloc(&request->keys, 48 * MIB);
    cudaMalloc(&request->values, 24 * MIB);
    cudaFree(scratch);
    if (frees) {
        cudaFree(request->keys);
        cudaFree(request->values);
    }
    request->next = done;
    done = request;
}

int main(int argc, char **argv)
{
    const int frees = argc > 1 && !strcmp(argv[1], "free");
    void *weights;
    cudaMalloc(&weights, 256 * MIB);
    train();
    for (int i = 0; i < REQUESTS; i++)
        serve(frees);
    printf("served %d\n", REQUESTS);
    return 0;
}
