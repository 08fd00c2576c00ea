/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A server that captures its decoding step anew for each batch size. Scratch memory is taken and
 * given back within the graph. Then a second model wants its weights. "recapture trim" gives back
 * between the two.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)

static int step_of_batch(cudaStream_t stream, size_t scratch_bytes)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    void *graph_scratch;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess ||
        cudaMallocAsync(&graph_scratch, scratch_bytes, stream) != cudaSuccess ||
        cudaFreeAsync(graph_scratch, stream) != cudaSuccess ||
        cudaStreamEndCapture(stream, &graph) != cudaSuccess)
        return 0;
    if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess)
        return 0;
    const int done = cudaGraphLaunch(executable, stream) == cudaSuccess &&
                     cudaStreamSynchronize(stream) == cudaSuccess;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return done;
}

static void say(const char *when)
{
    unsigned long long used = 0, reserved = 0;
    size_t free_bytes = 0, total_bytes = 0;
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used);
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved);
    cudaMemGetInfo(&free_bytes, &total_bytes);
    printf("%-16s graphs use %llu MiB, keep %llu MiB; free %zu MiB\n", when, used >> 20,
           reserved >> 20, free_bytes >> 20);
}

int main(int argc, char **argv)
{
    const int trim = argc > 1 && strcmp(argv[1], "trim") == 0;
    cudaStream_t stream;
    void *second_model;
    if (cudaStreamCreate(&stream) != cudaSuccess)
        return 2;
    say("at start");
    for (size_t batch = 1; batch <= 16; batch *= 2) {
        if (!step_of_batch(stream, batch * 160 * MIB))
            return 2;
        say("step done");
    }
    if (trim)
        cudaDeviceGraphMemTrim(0);
    say("graphs destroyed");
    const cudaError_t error = cudaMalloc(&second_model, 2048 * MIB);
    printf("2048 MiB for the second model: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
