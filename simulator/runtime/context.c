/* SPDX-License-Identifier: MIT */
/*
 * Retains the primary context of each device, and has the functions that choose a device. A second
 * runtime in the same process also retains the primary contexts, so a runtime may not be the only
 * user of a primary context.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "call.h"
#include "context.h"
#include "registry.h"

struct primary {
    CUdevice device;
    CUcontext context; /* the handle outlives a reset */
    bool retained;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct primary *primaries; /* set only under `once`, like primary_count */
static int primary_count;
/* Protects `context` and `retained` of every primary. Also lets only one thread at a time retain a
 * context. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The device set by cudaSetDevice; used while the thread has no current context. */
static _Thread_local int chosen_device;

static void find_devices(void)
{
    int count = 0;
    if (driver_table()->cuDeviceGetCount(&count) || count <= 0)
        return;
    primaries = calloc((size_t)count, sizeof *primaries);
    if (!primaries)
        return;
    for (int i = 0; i < count; i++)
        if (driver_table()->cuDeviceGet(&primaries[i].device, i))
            return;
    primary_count = count;
}

int context_device_count(void)
{
    pthread_once(&once, find_devices);
    return primary_count;
}

static struct primary *primary_of(int ordinal)
{
    return ordinal >= 0 && ordinal < context_device_count() ? &primaries[ordinal] : NULL;
}

static bool is_active(const struct primary *primary)
{
    unsigned int flags;
    int active = 0;
    return !driver_table()->cuDevicePrimaryCtxGetState(primary->device, &flags, &active) && active;
}

static void primary_release(struct primary *primary)
{
    if (primary->retained)
        driver_table()->cuDevicePrimaryCtxRelease_v2(primary->device);
    primary->retained = false;
}

/* Call with the lock held. If a retained context is not active, another user has reset it. */
static CUresult primary_retain(struct primary *primary)
{
    CUresult result;
    if (primary->retained && is_active(primary))
        return CUDA_SUCCESS;
    primary_release(primary);
    result = driver_table()->cuDevicePrimaryCtxRetain(&primary->context, primary->device);
    primary->retained = result == CUDA_SUCCESS;
    return result;
}

cudaError_t context_device(int ordinal, CUdevice *device)
{
    const struct primary *primary = primary_of(ordinal);
    if (!primary)
        return context_device_count() ? cudaErrorInvalidDevice : cudaErrorNoDevice;
    *device = primary->device;
    return cudaSuccess;
}

cudaError_t context_primary(int ordinal, CUcontext *context)
{
    struct primary *primary = primary_of(ordinal);
    CUresult result;
    if (!primary)
        return context_device_count() ? cudaErrorInvalidDevice : cudaErrorNoDevice;
    pthread_mutex_lock(&lock);
    result = primary_retain(primary);
    if (result == CUDA_SUCCESS)
        *context = primary->context;
    pthread_mutex_unlock(&lock);
    return error_of_driver(result);
}

static cudaError_t make_primary_current(int ordinal)
{
    CUcontext context = NULL;
    const cudaError_t error = context_primary(ordinal, &context);
    return error ? error : error_of_driver(driver_table()->cuCtxSetCurrent(context));
}

/* Returns whether the current context is alive, and sets *device to its device. cuCtxGetDevice
 * fails if the current context is not alive. */
static bool has_context(CUdevice *device)
{
    return driver_table()->cuCtxGetDevice(device) == CUDA_SUCCESS;
}

/* Makes a context current if the thread has none. Any error of the driver other than a missing
 * context is final, for example the error in a forked child. */
cudaError_t context_make_current(void)
{
    CUdevice device;
    const CUresult result = driver_table()->cuCtxGetDevice(&device);
    if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return make_primary_current(chosen_device);
    return error_of_driver(result);
}

cudaError_t context_current_device(int *ordinal)
{
    CUdevice device;
    *ordinal = chosen_device;
    if (context_device_count() == 0)
        return cudaErrorNoDevice;
    if (!has_context(&device))
        return cudaSuccess;
    for (int i = 0; i < context_device_count(); i++)
        if (primaries[i].device == device)
            *ordinal = i;
    return cudaSuccess;
}

static cudaError_t set_device(int ordinal)
{
    const cudaError_t error = make_primary_current(ordinal);
    if (error)
        return error;
    chosen_device = ordinal;
    return registry_load();
}

GMT_EXPORT cudaError_t cudaSetDevice(int device)
{
    return CALL(NEEDS_DEVICES, set_device(device));
}

GMT_EXPORT cudaError_t cudaGetDevice(int *device)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(device, context_current_device(device)));
}

static cudaError_t count_devices(int *count)
{
    *count = context_device_count();
    return *count ? cudaSuccess : cudaErrorNoDevice;
}

GMT_EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
    if (count)
        *count = 0; /* set even without a driver */
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(count, count_devices(count)));
}

static cudaError_t set_flags(int ordinal, unsigned int flags)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(driver_table()->cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

static cudaError_t set_current_flags(unsigned int flags)
{
    int ordinal;
    const cudaError_t error = context_current_device(&ordinal);
    return error ? error : set_flags(ordinal, flags);
}

GMT_EXPORT cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    return CALL(NEEDS_DEVICES, set_current_flags(flags));
}

/* Adds cudaDeviceMapHost, which contexts of the runtime always have. */
static cudaError_t get_flags(unsigned int *flags)
{
    int ordinal, active;
    CUdevice device;
    cudaError_t error = context_current_device(&ordinal);
    if (error == cudaSuccess)
        error = context_device(ordinal, &device);
    if (error == cudaSuccess)
        error = error_of_driver(driver_table()->cuDevicePrimaryCtxGetState(device, flags, &active));
    if (error == cudaSuccess)
        *flags |= CU_CTX_MAP_HOST;
    return error;
}

GMT_EXPORT cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(flags, get_flags(flags)));
}

static cudaError_t init_device(int ordinal, unsigned int device_flags, unsigned int flags)
{
    CUcontext context;
    cudaError_t error = cudaSuccess;
    if (flags & ~(unsigned int)cudaInitDeviceFlagsAreValid)
        return cudaErrorInvalidValue;
    if (flags & cudaInitDeviceFlagsAreValid)
        error = set_flags(ordinal, device_flags);
    if (error == cudaSuccess)
        error = context_primary(ordinal, &context);
    return error ? error : registry_load();
}

GMT_EXPORT cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    return CALL(NEEDS_DEVICES, init_device(device, device_flags, flags));
}

/* Whether the current context was created by the program on this device. The runtime must not
 * destroy such a context. */
static bool has_own_context(int ordinal)
{
    CUcontext primary = NULL, current = NULL;
    CUdevice device;
    if (!has_context(&device) || driver_table()->cuCtxGetCurrent(&current))
        return false;
    if (!is_active(primary_of(ordinal)))
        return true;
    return context_primary(ordinal, &primary) == cudaSuccess && primary != current;
}

static cudaError_t reset_primary(struct primary *primary)
{
    CUresult result;
    pthread_mutex_lock(&lock);
    result = driver_table()->cuDevicePrimaryCtxReset_v2(primary->device);
    /* A reset does not change how often the context is retained. So the runtime releases the
     * context here, and retains it again when it is needed. */
    if (result == CUDA_SUCCESS)
        primary_release(primary);
    pthread_mutex_unlock(&lock);
    return error_of_driver(result);
}

static cudaError_t reset_device(void)
{
    int ordinal;
    cudaError_t error = context_current_device(&ordinal);
    if (error || has_own_context(ordinal))
        return error;
    chosen_device = ordinal;
    error = reset_primary(primary_of(ordinal));
    return error ? error : error_of_driver(driver_table()->cuCtxSetCurrent(NULL));
}

GMT_EXPORT cudaError_t cudaDeviceReset(void)
{
    return CALL(NEEDS_DEVICES, reset_device());
}
