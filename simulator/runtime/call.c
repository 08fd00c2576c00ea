/* SPDX-License-Identifier: MIT */
/*
 * What every call goes through, and the error functions, which report what it left behind. An error
 * after which CUDA promises nothing but the same error is remembered for the whole process; any
 * other only for its thread, until cudaGetLastError takes it.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "simulator/driver/fault.h"
#include "call.h"
#include "context.h"
#include "registry.h"

static _Thread_local cudaError_t last_error = cudaSuccess;
static _Thread_local cudaError_t refusal = cudaSuccess;
/* The first error that cannot be recovered from. Relaxed: it guards no other memory. */
static _Atomic int fatal_error = cudaSuccess;

/* Whether cuInit has succeeded. No lock over it: a tool's hook may look up symbols inside, which
 * waits for the loader, and the loader may be inside a constructor that calls the runtime. */
static atomic_bool initialized;

static CUresult initialize(void)
{
    if (atomic_load_explicit(&initialized, memory_order_relaxed))
        return CUDA_SUCCESS;
    const CUresult result = driver_table()->cuInit(0);
    if (result == CUDA_SUCCESS)
        atomic_store_explicit(&initialized, true, memory_order_relaxed);
    return result;
}

/* The errors that the documentation ends with "the process must be terminated and relaunched". */
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

static cudaError_t fatal_so_far(void)
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

static cudaError_t make_ready(enum call_needs needs)
{
    if (needs == NEEDS_NOTHING)
        return cudaSuccess;
    if (!driver_table())
        return cudaErrorInsufficientDriver;
    if (needs == NEEDS_DRIVER)
        return cudaSuccess;
    const CUresult result = initialize();
    if (result != CUDA_SUCCESS || needs == NEEDS_DEVICES)
        return call_error(result);
    if (fatal_so_far())
        return fatal_so_far();
    const cudaError_t error = context_make_current();
    return error ? error : registry_load();
}

bool call_begin(const char *function, enum call_needs needs)
{
    refusal = (cudaError_t)fault_of(function);
    if (refusal == cudaSuccess)
        refusal = make_ready(needs);
    return refusal == cudaSuccess;
}

cudaError_t call_refusal(void)
{
    return refusal;
}

cudaError_t call_end(cudaError_t error)
{
    if (error == cudaSuccess)
        return error;
    last_error = error;
    remember_fatal(error);
    return error;
}

const struct driver_table *call_driver(void)
{
    return driver_table();
}

cudaError_t call_error(CUresult result)
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

cudaError_t runtime_function_missing(void)
{
    return call_end(cudaErrorNotSupported);
}

GMT_EXPORT cudaError_t cudaPeekAtLastError(void)
{
    return fatal_so_far() ? fatal_so_far() : last_error;
}

GMT_EXPORT cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = fatal_so_far() ? fatal_so_far() : last_error;
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
