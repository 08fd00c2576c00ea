/* SPDX-License-Identifier: MIT */
/*
 * Has what the samples share: named phases, and device memory with a reference count, like a
 * framework's tensor. A failed allocation ends the program.
 */
#ifndef SAMPLES_SAMPLE_H
#define SAMPLES_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

struct tensor {
    void *data;
    int holders;
};

static inline struct tensor *tensor_new(size_t bytes)
{
    struct tensor *tensor = calloc(1, sizeof *tensor);
    cudaError_t error = tensor ? cudaMalloc(&tensor->data, bytes) : cudaErrorMemoryAllocation;
    if (error != cudaSuccess) {
        fprintf(stderr, "no tensor of %zu bytes: %s\n", bytes, cudaGetErrorString(error));
        exit(1);
    }
    cudaMemset(tensor->data, 0, bytes);
    tensor->holders = 1;
    return tensor;
}

static inline struct tensor *floats(size_t count)
{
    return tensor_new(count * sizeof(float));
}

static inline struct tensor *hold(struct tensor *tensor)
{
    tensor->holders++;
    return tensor;
}

/* Drops one reference; dropping the last one frees the memory. */
static inline void drop(struct tensor **tensor)
{
    if (*tensor && --(*tensor)->holders == 0) {
        cudaFree((*tensor)->data);
        free(*tensor);
    }
    *tensor = NULL;
}

static inline void drop_all(struct tensor **tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        drop(&tensors[i]);
}

/* Runs work() as a phase of this name. */
static inline void phase(const char *name, void (*work)(void))
{
    gpumemtrace_push(name);
    work();
    gpumemtrace_pop();
}

#endif
