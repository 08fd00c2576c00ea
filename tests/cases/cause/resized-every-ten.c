/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Trains a detector on pictures of random sizes: every ten iterations the network is resized, so
 * the outputs and deltas of each layer are freed and made again. "fixed" keeps the first size.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define LAYERS 12
#define BATCH 16
#define ITERATIONS 60

struct layer {
    int filters, stride;
    void *weights, *output, *delta;
};

struct network {
    struct layer layers[LAYERS];
    void *input, *workspace;
    size_t workspace_bytes;
};

static void *cuda_make_array(size_t floats)
{
    void *array = NULL;
    if (cudaMalloc(&array, floats * sizeof(float)))
        return NULL;
    return array;
}

static int layer_resize(struct layer *layer, int size)
{
    size_t floats =
        (size_t)BATCH * layer->filters * (size / layer->stride) * (size / layer->stride);
    cudaFree(layer->output);
    cudaFree(layer->delta);
    layer->output = cuda_make_array(floats);
    layer->delta = cuda_make_array(floats);
    return layer->output && layer->delta ? 0 : -1;
}

static int network_resize(struct network *net, int size)
{
    cudaFree(net->input);
    net->input = cuda_make_array((size_t)BATCH * 3 * size * size);
    for (int i = 0; i < LAYERS; i++)
        if (layer_resize(&net->layers[i], size))
            return -1;
    cudaFree(net->workspace);
    net->workspace = cuda_make_array((size_t)size * size * 288);
    return net->input && net->workspace ? 0 : -1;
}

static int network_make(struct network *net)
{
    for (int i = 0; i < LAYERS; i++) {
        net->layers[i].filters = 32 << i / 3;
        net->layers[i].stride = 1 << i / 3;
        net->layers[i].weights = cuda_make_array((size_t)1152 * net->layers[i].filters);
        if (!net->layers[i].weights)
            return -1;
    }
    return 0;
}

static int train_iteration(struct network *net)
{
    void *truth = cuda_make_array(BATCH * 90 * 5);
    (void)net;
    return truth ? (int)cudaFree(truth) : -1;
}

int main(int argc, char **argv)
{
    static struct network net;
    static const int sizes[] = {416, 352, 480, 448, 608, 512};
    int fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    if (network_make(&net))
        return 1;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        int size = sizes[fixed ? 0 : iteration / 10];
        if (iteration % 10 == 0 && network_resize(&net, size)) {
            fprintf(stderr, "CUDA Error: out of memory at size %d\n", size);
            return 1;
        }
        if (train_iteration(&net))
            return 1;
    }
    printf("trained\n");
    return 0;
}
