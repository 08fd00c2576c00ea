/* SPDX-License-Identifier: MIT */
/*
 * Converts the runtime's description of array elements to the driver's.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_ARRAY_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_ARRAY_H

#include "gpumemtrace/cuda/abi.h"

/* cudaErrorInvalidChannelDescriptor if the driver has no such format. */
cudaError_t array_describe(CUDA_ARRAY3D_DESCRIPTOR *description,
                           const struct cudaChannelFormatDesc *descriptor, struct cudaExtent extent,
                           unsigned int flags);

#endif
