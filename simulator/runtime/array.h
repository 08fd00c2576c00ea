/* SPDX-License-Identifier: MIT */
/*
 * The runtime's words for an array's elements in the driver's.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_ARRAY_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_ARRAY_H

#include "gpumemtrace/cuda/abi.h"

/* cudaErrorInvalidChannelDescriptor where the driver has no word for it. */
cudaError_t array_describe(CUDA_ARRAY3D_DESCRIPTOR *description,
                           const struct cudaChannelFormatDesc *descriptor, struct cudaExtent extent,
                           unsigned int flags);

#endif
