/* SPDX-License-Identifier: MIT */
/*
 * Two texts that occur together in every version of NVIDIA's runtime from CUDA 8 to 13. They show
 * that the runtime is linked into a file.
 */
#ifndef GPUMEMTRACE_COMMON_STATIC_RUNTIME_H
#define GPUMEMTRACE_COMMON_STATIC_RUNTIME_H

#define STATIC_RUNTIME_ERROR_NAME "cudaErrorMixedDeviceExecution"
#define STATIC_RUNTIME_DRIVER_NAME "libcuda.so.1"

#endif
