/* SPDX-License-Identifier: MIT */
/*
 * The hooks of calls that return function pointers. Such a hook replaces the function that the
 * driver or runtime found by our hook of that function. A failed lookup still fails, and *function
 * is written only if the real lookup wrote it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/hook/prologue.h"
#include "interpose/lookup/coverage.h"
#include "interpose/lookup/resolve.h"

#undef cuGetProcAddress
#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion

/* Replaces *function by our hook of that function, if there is one. */
static void hand_out_entry_point(bool ok, const char *name, void **function, const void *caller)
{
    bool hooked = true;
    if (ok && function && *function)
        *function = resolve_hand_out(*function, caller, &hooked);
    coverage_lookup_end(hooked ? NULL : name);
}

/* clang-format off */
#define LOOKUP(api, name, parameters, arguments)                                                   \
    HOOK_FUNCTION(api, name, parameters,                                                           \
        coverage_lookup_begin();                                                                   \
        const api##_status status = real arguments;                                                \
        hand_out_entry_point(status == 0, symbol, function, caller);                                           \
        return status;)

LOOKUP(driver, cuGetProcAddress,
       (const char *symbol, void **function, int version, cuuint64_t flags),
       (symbol, function, version, flags))
LOOKUP(driver, cuGetProcAddress_v2,
       (const char *symbol, void **function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *found),
       (symbol, function, version, flags, found))
LOOKUP(runtime, cudaGetDriverEntryPoint,
       (const char *symbol, void **function, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found),
       (symbol, function, flags, found))
LOOKUP(runtime, cudaGetDriverEntryPoint_ptsz,
       (const char *symbol, void **function, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found),
       (symbol, function, flags, found))
LOOKUP(runtime, cudaGetDriverEntryPointByVersion,
       (const char *symbol, void **function, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found),
       (symbol, function, version, flags, found))
LOOKUP(runtime, cudaGetDriverEntryPointByVersion_ptsz,
       (const char *symbol, void **function, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found),
       (symbol, function, version, flags, found))
/* clang-format on */
