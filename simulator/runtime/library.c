/* SPDX-License-Identifier: MIT */
/*
 * Libraries: code that the program loads itself. Handles and option numbers are the driver's.
 */
#include <stdint.h>

#include "call.h"

GMT_EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *image,
                                           enum cudaJitOption *options, void **values,
                                           unsigned int option_count,
                                           enum cudaLibraryOption *library_options,
                                           void **library_values, unsigned int library_option_count)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuLibraryLoadData(
                                   library, image, (CUjit_option *)(void *)options, values,
                                   option_count, (CUlibraryOption *)(void *)library_options,
                                   library_values, library_option_count)));
}

GMT_EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                               enum cudaJitOption *options, void **values,
                                               unsigned int option_count,
                                               enum cudaLibraryOption *library_options,
                                               void **library_values,
                                               unsigned int library_option_count)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuLibraryLoadFromFile(
                                   library, path, (CUjit_option *)(void *)options, values,
                                   option_count, (CUlibraryOption *)(void *)library_options,
                                   library_values, library_option_count)));
}

GMT_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuLibraryUnload(library)));
}

GMT_EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                            const char *name)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuLibraryGetKernel(kernel, library, name)));
}

/* Gets a variable's address and size, either of which may be NULL. */
typedef CUresult get_variable(CUdeviceptr *address, size_t *size_bytes, CUlibrary library,
                              const char *name);

static cudaError_t variable_find(get_variable *get, void **address, size_t *size_bytes,
                                 cudaLibrary_t library, const char *name)
{
    CUdeviceptr found = 0;
    const cudaError_t error = error_of_driver(get(&found, size_bytes, library, name));
    if (error == cudaSuccess && address)
        *address = (void *)(uintptr_t)found;
    return error;
}

GMT_EXPORT cudaError_t cudaLibraryGetGlobal(void **address, size_t *size_bytes,
                                            cudaLibrary_t library, const char *name)
{
    return CALL(NEEDS_CONTEXT, variable_find(call_driver()->cuLibraryGetGlobal, address, size_bytes,
                                             library, name));
}

GMT_EXPORT cudaError_t cudaLibraryGetManaged(void **address, size_t *size_bytes,
                                             cudaLibrary_t library, const char *name)
{
    return CALL(NEEDS_CONTEXT, variable_find(call_driver()->cuLibraryGetManaged, address,
                                             size_bytes, library, name));
}
