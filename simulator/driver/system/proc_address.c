/* SPDX-License-Identifier: MIT */
/*
 * cuGetProcAddress and cuGetProcAddress_v2. Like the real ones, they work before cuInit. If there
 * is no such function, but the caller passes a pointer for the status of the lookup, the result is
 * CUDA_SUCCESS (seen with driver 580.159 on an H100).
 */
#include <stddef.h>

#include "simulator/driver/machine/call.h"
#include "exports.h"

#define FLAGS (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

static CUresult proc_address_find(const char *symbol, void **function, int version,
                                  cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    const int per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *function = NULL;
    switch (exports_find(symbol, version, per_thread, function)) {
    case EXPORT_FOUND:
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
    case EXPORT_TOO_NEW:
        *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        break;
    case EXPORT_UNKNOWN:
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        break;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    struct call call;
    CUdriverProcAddressQueryResult own;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING) &&
        call_requires(&call, symbol && function && !(flags & ~(cuuint64_t)FLAGS)))
        call.result = proc_address_find(symbol, function, version, flags, status ? status : &own);
    if (status && call.result == CUDA_ERROR_NOT_FOUND)
        call.result = CUDA_SUCCESS;
    return call_end(&call);
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    struct call call;
    CUdriverProcAddressQueryResult own;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING) &&
        call_requires(&call, symbol && function && !(flags & ~(cuuint64_t)FLAGS)))
        call.result = proc_address_find(symbol, function, version, flags, &own);
    return call_end(&call);
}
