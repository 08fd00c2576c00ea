/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * An index of vectors grows as vectors are added. If its buffer is full it takes a larger one,
 * copies, and frees the old one. A mistake in the rule of growth asks for five times the vectors
 * that there are, not for a quarter more. "vectors-added quarter" has the right rule.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

enum { DIMENSIONS = 128, BATCH = 1 << 20, BATCHES = 12, QUERIES = 1024 };

struct device_vector {
    float *data;
    size_t size, capacity; /* in floats */
};

struct index {
    struct device_vector vectors;
    struct device_vector norms;
};

static int has_right_rule;

static size_t grown(size_t size)
{
    return has_right_rule ? size + size / 4 : size + size * 4;
}

static int device_vector_reserve(struct device_vector *v, size_t capacity)
{
    float *larger = NULL;
    if (cudaMalloc((void **)&larger, capacity * sizeof(float)) != cudaSuccess)
        return -1;
    if (v->data) {
        cudaMemcpy(larger, v->data, v->size * sizeof(float), cudaMemcpyDeviceToDevice);
        cudaFree(v->data);
    }
    v->data = larger;
    v->capacity = capacity;
    return 0;
}

static int device_vector_append(struct device_vector *v, size_t count)
{
    if (v->size + count > v->capacity && device_vector_reserve(v, grown(v->size + count)))
        return -1;
    v->size += count;
    return 0;
}

static int index_add(struct index *index, size_t count)
{
    if (device_vector_append(&index->vectors, count * DIMENSIONS))
        return -1;
    return device_vector_append(&index->norms, count);
}

static int index_search(struct index *index)
{
    float *distances = NULL;
    if (cudaMalloc((void **)&distances, QUERIES * (index->norms.size / 16) * sizeof(float)) !=
        cudaSuccess)
        return -1;
    cudaFree(distances);
    return 0;
}

int main(int argc, char **argv)
{
    struct index index;
    has_right_rule = argc > 1 && !strcmp(argv[1], "quarter");
    memset(&index, 0, sizeof index);
    for (int batch = 0; batch < BATCHES; batch++) {
        if (index_add(&index, BATCH)) {
            fprintf(stderr, "index: no memory to add batch %d\n", batch);
            return 1;
        }
        if (index_search(&index)) {
            fprintf(stderr, "index: no memory to search\n");
            return 1;
        }
        printf("batch %d\n", batch);
    }
    cudaFree(index.vectors.data);
    cudaFree(index.norms.data);
    return 0;
}
