/* SPDX-License-Identifier: MIT */
/*
 * Converts the runtime's description of array elements to the driver's.
 */
#pragma once

#include "gpumemtrace/cuda/abi.h"

/* cudaErrorInvalidChannelDescriptor if the driver has no such format. */
cudaError_t array_describe(CUDA_ARRAY3D_DESCRIPTOR *description,
                           const struct cudaChannelFormatDesc *descriptor, struct cudaExtent extent,
                           unsigned int flags);
