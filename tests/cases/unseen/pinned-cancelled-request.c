/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A server that copies each request through a pinned staging buffer of its own to the card. Some
 * clients hang up while their request waits. "staging release" gives the buffer back for those,
 * too.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

enum { REQUESTS = 120, FRAMES = 32, FRAME_BYTES = 256 << 10, RESULT_BYTES = 1 << 20 };

struct request {
    int number;
    void *staging;
    void *frames;
    void *result;
};

static long long pinned_bytes;
static int release_always;

static int prepare(struct request *request)
{
    if (cudaMallocHost(&request->staging, (size_t)FRAMES * FRAME_BYTES) != cudaSuccess)
        return 0;
    pinned_bytes += (long long)FRAMES * FRAME_BYTES;
    memset(request->staging, request->number, 4096);
    return 1;
}

static void give_back(struct request *request)
{
    cudaFreeHost(request->staging);
    pinned_bytes -= (long long)FRAMES * FRAME_BYTES;
}

static int client_hung_up(const struct request *request)
{
    return request->number % 3 == 2;
}

static int answer(struct request *request, cudaStream_t stream)
{
    const size_t size = (size_t)FRAMES * FRAME_BYTES;
    if (cudaMalloc(&request->frames, size) != cudaSuccess ||
        cudaMalloc(&request->result, RESULT_BYTES) != cudaSuccess)
        return 0;
    cudaMemcpyAsync(request->frames, request->staging, size, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(request->result, 0, RESULT_BYTES, stream);
    cudaStreamSynchronize(stream);
    cudaFree(request->frames);
    cudaFree(request->result);
    give_back(request);
    return 1;
}

int main(int argc, char **argv)
{
    cudaStream_t stream;
    void *weights;
    release_always = argc > 1 && strcmp(argv[1], "release") == 0;
    if (cudaStreamCreate(&stream) != cudaSuccess ||
        cudaMalloc(&weights, (size_t)512 << 20) != cudaSuccess)
        return 2;
    for (int number = 0; number < REQUESTS; number++) {
        struct request request = {number, NULL, NULL, NULL};
        if (!prepare(&request))
            return 2;
        if (client_hung_up(&request)) {
            if (release_always)
                give_back(&request);
        } else if (!answer(&request, stream))
            return 2;
        if (number % 30 == 29) {
            size_t free_bytes = 0, total_bytes = 0;
            cudaMemGetInfo(&free_bytes, &total_bytes);
            printf("%3d requests: pinned %lld MiB, free on the card %zu MiB\n", number + 1,
                   pinned_bytes >> 20, free_bytes >> 20);
            fflush(stdout);
        }
    }
    cudaFree(weights);
    return 0;
}
