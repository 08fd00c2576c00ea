/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Attempts an allocation that is too large before, during and after the capture of a stream.
 */
#include "gpumemtrace/cuda/abi.h"

static int fail(void)
{
    CUdeviceptr address;
    return cuMemAlloc_v2(&address, (size_t)64 << 30) != CUDA_ERROR_OUT_OF_MEMORY;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUgraph graph;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&stream, 0))
        return 9;
    if (fail() || cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) || fail() ||
        cuStreamEndCapture(stream, &graph) || fail())
        return 8;
    return 0;
}
