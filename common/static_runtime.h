/* SPDX-License-Identifier: MIT */
/*
 * Two texts that occur together in every version of NVIDIA's runtime from CUDA 8 to 13. They show
 * that the runtime is linked into a file.
 */
#pragma once

#define STATIC_RUNTIME_ERROR_NAME "cudaErrorMixedDeviceExecution"
#define STATIC_RUNTIME_DRIVER_NAME "libcuda.so.1"
