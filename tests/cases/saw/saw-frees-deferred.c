/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Filters video frames. A free would wait for the GPU, so frees are queued and done together once
 * ten are pending or the pending bytes exceed a fifth of the card. "at-once" frees without the
 * queue.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { FRAMES = 64, MAX_PENDING = 10, FILTER_MIB = 256, FRAME_MIB = 192 };

static void *pending[MAX_PENDING];
static size_t pending_bytes, live_bytes, peak_bytes, card_bytes;
static int pending_count;

static void *array_take(size_t bytes)
{
    void *data = NULL;
    if (cudaMalloc(&data, bytes) != cudaSuccess)
        return NULL;
    live_bytes += bytes;
    if (live_bytes > peak_bytes)
        peak_bytes = live_bytes;
    return data;
}

static void pending_flush(void)
{
    for (int i = 0; i < pending_count; i++)
        cudaFree(pending[i]);
    live_bytes -= pending_bytes;
    pending_bytes = 0;
    pending_count = 0;
}

static void array_give(void *data, size_t bytes, int at_once)
{
    pending[pending_count++] = data;
    pending_bytes += bytes;
    if (at_once || pending_count == MAX_PENDING || pending_bytes > card_bytes / 5)
        pending_flush();
}

int main(int argc, char **argv)
{
    const int at_once = argc > 1 && strcmp(argv[1], "at-once") == 0;
    size_t free_bytes;
    cudaMemGetInfo(&free_bytes, &card_bytes);
    void *filter = array_take(FILTER_MIB * MIB);
    for (int frame = 0; frame < FRAMES; frame++) {
        void *filtered = array_take(FRAME_MIB * MIB);
        if (!filter || !filtered)
            return 1;
        cudaMemcpy(filtered, filter, FRAME_MIB * MIB, cudaMemcpyDeviceToDevice);
        array_give(filtered, FRAME_MIB * MIB, at_once);
        printf("frame %d: %zu MiB live\n", frame, live_bytes / MIB);
    }
    printf("peak %zu MiB\n", peak_bytes / MIB);
    return 0;
}
