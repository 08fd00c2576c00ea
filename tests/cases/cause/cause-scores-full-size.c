/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Labels the pixels of video clips: features, a score per pixel and label, and a coloured overlay.
 * All buffers are taken by one helper. "coarse" decides at a quarter of the resolution and
 * enlarges the labels only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

enum { LAYERS = 24, HEIGHT = 512, WIDTH = 1024, LABELS = 150, FEATURES = 32 };

#define WEIGHT_BYTES ((size_t)124 << 20)
static size_t live_bytes, peak_bytes;

static void *buffer(size_t bytes)
{
    void *data = NULL;
    if (cudaMalloc(&data, bytes) != cudaSuccess) {
        printf("no memory for %zu bytes; live %zu bytes\n", bytes, live_bytes);
        exit(1);
    }
    live_bytes += bytes;
    if (live_bytes > peak_bytes)
        peak_bytes = live_bytes;
    return data;
}

static void drop(void *data, size_t bytes)
{
    cudaFree(data);
    live_bytes -= bytes;
}

static void label_clip(size_t frames, int coarse)
{
    const size_t pixels = frames * HEIGHT * WIDTH;
    const size_t decided = coarse ? pixels / 16 : pixels;
    const size_t scores_bytes = decided * LABELS * sizeof(float);
    void *features = buffer(pixels / 16 * FEATURES * sizeof(float));
    void *scores = buffer(scores_bytes);
    void *labels = buffer(pixels);
    void *overlay = buffer(pixels * 4 * sizeof(float));
    cudaMemset(overlay, 0, pixels * 4 * sizeof(float));
    drop(overlay, pixels * 4 * sizeof(float));
    drop(labels, pixels);
    drop(scores, scores_bytes);
    drop(features, pixels / 16 * FEATURES * sizeof(float));
}

int main(int argc, char **argv)
{
    const int coarse = argc > 1 && strcmp(argv[1], "coarse") == 0;
    void *weights[LAYERS];
    for (int layer = 0; layer < LAYERS; layer++)
        weights[layer] = buffer(WEIGHT_BYTES);
    for (size_t frames = 4; frames <= 16; frames += 4) {
        label_clip(frames, coarse);
        printf("%zu frames: peak %zu bytes\n", frames, peak_bytes);
    }
    for (int layer = 0; layer < LAYERS; layer++)
        drop(weights[layer], WEIGHT_BYTES);
    return 0;
}
