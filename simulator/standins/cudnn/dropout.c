/* SPDX-License-Identifier: MIT */
/* Dropout: its probability and the states of its random numbers. See dropout.h. */
#include "dropout.h"

#include "gpumemtrace/cuda/abi.h"
#include "simulator/standins/standin.h"
#include "status.h"

STANDIN(int, cudnnCreateDropoutDescriptor, (struct cudnn_dropout * *created))
{
    *created = calloc(1, sizeof **created);
    return *created ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
}
STANDIN_DESTROY(cudnnDestroyDropoutDescriptor)

static int set(struct cudnn_dropout *dropout, float probability)
{
    if (!dropout)
        return CUDNN_BAD_PARAM;
    dropout->probability = probability;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnSetDropoutDescriptor,
        (struct cudnn_dropout * dropout, void *handle, float probability, void *states,
         size_t state_bytes, unsigned long long seed))
{
    (void)handle, (void)states, (void)state_bytes, (void)seed;
    return set(dropout, probability);
}

STANDIN(int, cudnnRestoreDropoutDescriptor,
        (struct cudnn_dropout * dropout, void *handle, float probability, void *states,
         size_t state_bytes, unsigned long long seed))
{
    (void)handle, (void)states, (void)state_bytes, (void)seed;
    return set(dropout, probability);
}

/* On an H100 with 132 multiprocessors cuDNN returns 6,488,064 bytes. */
STANDIN(int, cudnnDropoutGetStatesSize, (void *handle, size_t *bytes))
{
    enum { MULTIPROCESSOR_BYTES = 48 << 10 };
    int device = 0, multiprocessors = 0;
    (void)handle;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    *bytes = (size_t)multiprocessors * MULTIPROCESSOR_BYTES;
    return CUDNN_SUCCESS;
}
