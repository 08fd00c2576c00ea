/* SPDX-License-Identifier: MIT */
/*
 * cudaGetDriverEntryPoint: finds driver functions for the program. It returns the result of the
 * driver's lookup. For an unknown name it returns no error, but a NULL function and a status.
 */
#include <limits.h>
#include <stddef.h>

#include "call.h"
#include "soname.h"

/* Chooses the flag of the default stream, which depends on the variant of the function that the
 * program calls. */
static int flags_of(enum stream_form form, unsigned long long flags, cuuint64_t *driver_flags)
{
    switch (flags) {
    case cudaEnableDefault:
        *driver_flags = form == PER_THREAD ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                           : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
        return 0;
    case cudaEnableLegacyStream:
        *driver_flags = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
        return 0;
    case cudaEnablePerThreadDefaultStream:
        *driver_flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        return 0;
    default:
        return -1;
    }
}

static cudaError_t entry_point_find(enum stream_form form, const char *symbol, void **function,
                                    unsigned int version, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SUCCESS;
    void *found = NULL;
    cuuint64_t driver_flags;
    CUresult result;
    if (!symbol || !function || version > INT_MAX || flags_of(form, flags, &driver_flags))
        return cudaErrorInvalidValue;
    result =
        call_driver()->cuGetProcAddress_v2(symbol, &found, (int)version, driver_flags, &answer);
    if (result == CUDA_ERROR_NOT_FOUND && answer == CU_GET_PROC_ADDRESS_SUCCESS)
        answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND)
        return error_of_driver(result);
    *function = answer == CU_GET_PROC_ADDRESS_SUCCESS ? found : NULL;
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)answer;
    return cudaSuccess;
}

TWIN(_ptsz, cudaGetDriverEntryPoint,
     (const char *symbol, void **function, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *status),
     NEEDS_DEVICES,
     entry_point_find(form, symbol, function, (unsigned int)runtime_version(), flags, status))
TWIN(_ptsz, cudaGetDriverEntryPointByVersion,
     (const char *symbol, void **function, unsigned int version, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *status),
     NEEDS_DEVICES, entry_point_find(form, symbol, function, version, flags, status))
