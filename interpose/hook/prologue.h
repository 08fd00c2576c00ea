/* SPDX-License-Identifier: MIT */
/*
 * The beginning of every hook: it finds the real function for its caller, and returns a proper CUDA
 * error if there is none.
 *
 *     HOOK_FUNCTION(driver, cuCtxDetach, (CUcontext context),
 *                   ... const CUresult status = real(context); ... return status;)
 */
#pragma once

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "interpose/lookup/resolve.h"

typedef CUresult driver_status;
typedef cudaError_t runtime_status;

#define MISSING_driver CUDA_ERROR_NOT_FOUND
#define MISSING_runtime cudaErrorSharedObjectSymbolNotFound

/* Defines a hook. The last arguments are the body of the hook, which calls `real` and may use
 * `caller`, the return address. */
#define HOOK_FUNCTION(api, name, parameters, ...)                                                  \
    GMT_EXPORT api##_status name parameters;                                                       \
    api##_status name parameters                                                                   \
    {                                                                                              \
        typedef api##_status real_function parameters;                                             \
        const void *const caller = GMT_CALLER_ADDRESS();                                           \
        real_function *const real =                                                                \
            GMT_FUNCTION(real_function *, resolve_hook(HOOK_##name, caller));                      \
        if (!real)                                                                                 \
            return MISSING_##api;                                                                  \
        __VA_ARGS__                                                                                \
    }

/* Handles are pointers in C and numbers in a trace. */
#define bits(pointer) ((uint64_t)(uintptr_t)(pointer))
