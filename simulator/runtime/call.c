/* SPDX-License-Identifier: MIT */
/*
 * The checks before the body of every call. See call.h.
 */
#include <stdatomic.h>

#include "common/sim_fault.h"
#include "call.h"
#include "context.h"
#include "registry.h"

static _Thread_local cudaError_t refusal = cudaSuccess;
/* Whether cuInit has succeeded. No lock is held during cuInit. A tool's hook of cuInit may look up
 * symbols and wait for the loader's lock, and the thread that holds that lock may be in a
 * constructor that calls the runtime. */
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
        return error_of_driver(result);
    if (error_fatal())
        return error_fatal();
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

const struct driver_table *call_driver(void)
{
    return driver_table();
}
