/* SPDX-License-Identifier: MIT */
/*
 * The hooks that hand out function pointers: what the driver or the runtime found is replaced by
 * the hook that stands for it. A lookup that fails stays a failed lookup, and nothing is written
 * where the real function wrote nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/lookup/coverage.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "interpose/lookup/resolve.h"

#undef cuGetProcAddress
#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion

/* Replaces the function the driver gave by our hook for it, if there is one. */
static void hand_out(bool ok, const char *name, void **function, const void *caller)
{
    bool hooked = true;
    if (ok && function && *function)
        *function = resolve_hand_out(*function, caller, &hooked);
    coverage_lookup_end(hooked ? NULL : name);
}

#define LOOKUP(api, type, name, parameters, arguments, missing, function)                          \
    GMT_EXPORT type name parameters;                                                               \
    type name parameters                                                                           \
    {                                                                                              \
        typedef type real_function parameters;                                                     \
        const void *caller = GMT_CALLER_ADDRESS();                                                 \
        real_function *real = GMT_FUNCTION(real_function *, resolve_hook(HOOK_##name, caller));    \
        if (!real)                                                                                 \
            return missing;                                                                        \
        coverage_lookup_begin();                                                                   \
        const type status = real arguments;                                                        \
        hand_out(status == 0, symbol, function, caller);                                           \
        return status;                                                                             \
    }

/* clang-format off */
LOOKUP(driver, CUresult, cuGetProcAddress,
       (const char *symbol, void **pfn, int version, cuuint64_t flags),
       (symbol, pfn, version, flags), CUDA_ERROR_NOT_FOUND, pfn)
LOOKUP(driver, CUresult, cuGetProcAddress_v2,
       (const char *symbol, void **pfn, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status_),
       (symbol, pfn, version, flags, status_), CUDA_ERROR_NOT_FOUND, pfn)
LOOKUP(runtime, cudaError_t, cudaGetDriverEntryPoint,
       (const char *symbol, void **pfn, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status_),
       (symbol, pfn, flags, status_), cudaErrorSharedObjectSymbolNotFound, pfn)
LOOKUP(runtime, cudaError_t, cudaGetDriverEntryPoint_ptsz,
       (const char *symbol, void **pfn, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status_),
       (symbol, pfn, flags, status_), cudaErrorSharedObjectSymbolNotFound, pfn)
LOOKUP(runtime, cudaError_t, cudaGetDriverEntryPointByVersion,
       (const char *symbol, void **pfn, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status_),
       (symbol, pfn, version, flags, status_), cudaErrorSharedObjectSymbolNotFound, pfn)
LOOKUP(runtime, cudaError_t, cudaGetDriverEntryPointByVersion_ptsz,
       (const char *symbol, void **pfn, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status_),
       (symbol, pfn, version, flags, status_), cudaErrorSharedObjectSymbolNotFound, pfn)
/* clang-format on */
