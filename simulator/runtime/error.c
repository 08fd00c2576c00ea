/* SPDX-License-Identifier: MIT */
/*
 * The last errors, and the functions that report them. A fatal error is kept for the whole process,
 * and every later call returns it again. Any other error is kept for its thread until
 * cudaGetLastError.
 */
#include "error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/compiler.h"

static _Thread_local cudaError_t last_error = cudaSuccess;
/* The first fatal error. Relaxed, because no other memory depends on it. */
static _Atomic int fatal_error = cudaSuccess;

/* Errors for which the documentation says "the process must be terminated and relaunched". */
static bool is_fatal(cudaError_t error)
{
    static const cudaError_t fatal[] = {
        cudaErrorContained,          cudaErrorIllegalAddress,
        cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
        cudaErrorInvalidPc,          cudaErrorLaunchFailure,
        cudaErrorTensorMemoryLeak,   cudaErrorMpsClientTerminated,
        cudaErrorExternalDevice,
    };
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == error)
            return true;
    return false;
}

cudaError_t error_fatal(void)
{
    return (cudaError_t)atomic_load_explicit(&fatal_error, memory_order_relaxed);
}

static void remember_fatal(cudaError_t error)
{
    int none = cudaSuccess;
    if (is_fatal(error))
        atomic_compare_exchange_strong_explicit(&fatal_error, &none, (int)error,
                                                memory_order_relaxed, memory_order_relaxed);
}

cudaError_t error_remember(cudaError_t error)
{
    if (error == cudaSuccess)
        return error;
    last_error = error;
    remember_fatal(error);
    return error;
}

cudaError_t error_of_driver(CUresult result)
{
    switch ((int)result) {
#define CUDA_ERROR(number, driver_name, runtime_name, text) case number:
#define CUDA_ERROR_OF_RUNTIME(number, name, text)
#define CUDA_ERROR_OF_DRIVER(number, name, text)
#include "gpumemtrace/cuda/errors.def"
        return (cudaError_t)result;
    case CUDA_ERROR_CONTEXT_ALREADY_CURRENT:
        return cudaErrorIncompatibleDriverContext;
    default:
        return cudaErrorUnknown;
    }
}

/* Counts the call in a recorded dry run. Defined in libgpumemtrace_dryrun.so. */
__attribute__((weak)) void gpumemtrace_dryrun_count(const char *name);

cudaError_t runtime_function_missing(const char *name)
{
    if (gpumemtrace_dryrun_count)
        gpumemtrace_dryrun_count(name);
    return error_remember(cudaErrorNotSupported);
}

GMT_EXPORT cudaError_t cudaPeekAtLastError(void)
{
    return error_fatal() ? error_fatal() : last_error;
}

GMT_EXPORT cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = error_fatal() ? error_fatal() : last_error;
    last_error = cudaSuccess;
    return error;
}

GMT_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
#define CUDA_ERROR(number, driver_name, runtime_name, text)                                        \
    case number:                                                                                   \
        return #runtime_name;
#define CUDA_ERROR_OF_RUNTIME(number, name, text)                                                  \
    case number:                                                                                   \
        return #name;
#define CUDA_ERROR_OF_DRIVER(number, name, text)
#include "gpumemtrace/cuda/errors.def"
    default:
        return "unrecognized error code";
    }
}

GMT_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
#define CUDA_ERROR(number, driver_name, runtime_name, text)                                        \
    case number:                                                                                   \
        return text;
#define CUDA_ERROR_OF_RUNTIME(number, name, text)                                                  \
    case number:                                                                                   \
        return text;
#define CUDA_ERROR_OF_DRIVER(number, name, text)
#include "gpumemtrace/cuda/errors.def"
    default:
        return "unrecognized error code";
    }
}
