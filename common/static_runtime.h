/* SPDX-License-Identifier: MIT */
/*
 * How to tell that NVIDIA's runtime is linked into a file: two texts of the runtime, of every version
 * from CUDA 8 to 13, that stand in it together. It must not know how files are read.
 */
#ifndef GPUMEMTRACE_COMMON_STATIC_RUNTIME_H
#define GPUMEMTRACE_COMMON_STATIC_RUNTIME_H

#define STATIC_RUNTIME_ERROR_NAME "cudaErrorMixedDeviceExecution"
#define STATIC_RUNTIME_DRIVER_NAME "libcuda.so.1"

#endif
