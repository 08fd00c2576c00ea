/* SPDX-License-Identifier: MIT */
/*
 * The runtime's hold on primary contexts, one retain per device and library, and the functions that
 * choose a device. Another runtime in the same process has its own hold: neither may take it that
 * it is alone.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/call.h"
#include "runtime/context.h"

struct primary {
    CUdevice device;
    /* Both are read without the lock. Release on writing, acquire on reading: who sees `retained`
     * sees `context`, whose handle outlives a reset. */
    _Atomic(CUcontext) context;
    atomic_bool retained;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct primary *primaries; /* the array and its length: written under `once` only */
static int primary_count;
/* Protects `context` and `retained` of every primary: of two threads one retains. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* What cudaSetDevice chose; counts where the driver has no context current. */
static _Thread_local int chosen_device;

static void find_devices(void)
{
    int count = 0;
    if (call_driver()->cuDeviceGetCount(&count) || count <= 0)
        return;
    primaries = calloc((size_t)count, sizeof *primaries);
    if (!primaries)
        return;
    for (int i = 0; i < count; i++)
        if (call_driver()->cuDeviceGet(&primaries[i].device, i))
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

static bool is_retained(struct primary *primary)
{
    return atomic_load_explicit(&primary->retained, memory_order_acquire);
}

static CUcontext handle_of(struct primary *primary)
{
    return atomic_load_explicit(&primary->context, memory_order_acquire);
}

/* NULL for a context that is no primary one of ours, retained now or before. */
static struct primary *primary_with(CUcontext context)
{
    for (int i = 0; i < context_device_count(); i++)
        if (handle_of(&primaries[i]) == context)
            return &primaries[i];
    return NULL;
}

static cudaError_t retain(struct primary *primary)
{
    CUresult result = CUDA_SUCCESS;
    CUcontext context = NULL;
    if (is_retained(primary))
        return cudaSuccess;
    pthread_mutex_lock(&lock);
    if (!is_retained(primary)) {
        result = call_driver()->cuDevicePrimaryCtxRetain(&context, primary->device);
        if (result == CUDA_SUCCESS) {
            atomic_store_explicit(&primary->context, context, memory_order_release);
            atomic_store_explicit(&primary->retained, true, memory_order_release);
        }
    }
    pthread_mutex_unlock(&lock);
    return call_error(result);
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
    cudaError_t error;
    if (!primary)
        return context_device_count() ? cudaErrorInvalidDevice : cudaErrorNoDevice;
    error = retain(primary);
    if (error == cudaSuccess)
        *context = handle_of(primary);
    return error;
}

static cudaError_t make_primary_current(int ordinal)
{
    CUcontext context = NULL;
    const cudaError_t error = context_primary(ordinal, &context);
    return error ? error : call_error(call_driver()->cuCtxSetCurrent(context));
}

/* NULL: none, or a primary context that was reset and waits to be made anew. */
static CUcontext usable_context(void)
{
    CUcontext context = NULL;
    struct primary *primary;
    if (call_driver()->cuCtxGetCurrent(&context) || !context)
        return NULL;
    primary = primary_with(context);
    return !primary || is_retained(primary) ? context : NULL;
}

cudaError_t context_make_current(void)
{
    return usable_context() ? cudaSuccess : make_primary_current(chosen_device);
}

cudaError_t context_current_device(int *ordinal)
{
    CUdevice device;
    *ordinal = chosen_device;
    if (!usable_context() || call_driver()->cuCtxGetDevice(&device))
        return context_device_count() ? cudaSuccess : cudaErrorNoDevice;
    for (int i = 0; i < context_device_count(); i++)
        if (primaries[i].device == device)
            *ordinal = i;
    return cudaSuccess;
}

void context_forget_current(void)
{
    CUcontext context = NULL;
    struct primary *primary;
    if (!driver_table() || call_driver()->cuCtxGetCurrent(&context) || !context)
        return;
    primary = primary_with(context);
    if (primary)
        atomic_store_explicit(&primary->retained, false, memory_order_release);
}

static cudaError_t set_device(int ordinal)
{
    const cudaError_t error = make_primary_current(ordinal);
    if (error == cudaSuccess)
        chosen_device = ordinal;
    return error;
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
        *count = 0; /* said even where there is no driver to ask */
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(count, count_devices(count)));
}

static cudaError_t set_flags(int ordinal, unsigned int flags)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error : call_error(call_driver()->cuDevicePrimaryCtxSetFlags_v2(device, flags));
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

/* Contexts of the runtime's always map host memory. */
static cudaError_t get_flags(unsigned int *flags)
{
    int ordinal, active;
    CUdevice device;
    cudaError_t error = context_current_device(&ordinal);
    if (error == cudaSuccess)
        error = context_device(ordinal, &device);
    if (error == cudaSuccess)
        error = call_error(call_driver()->cuDevicePrimaryCtxGetState(device, flags, &active));
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
    return error ? error : context_primary(ordinal, &context);
}

GMT_EXPORT cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    return CALL(NEEDS_DEVICES, init_device(device, device_flags, flags));
}

static cudaError_t reset_primary(struct primary *primary)
{
    const struct driver_table *driver = call_driver();
    CUresult result;
    pthread_mutex_lock(&lock);
    result = driver->cuDevicePrimaryCtxReset_v2(primary->device);
    /* A reset takes nobody's hold away: ours is given up here and taken anew when needed. */
    if (result == CUDA_SUCCESS && is_retained(primary)) {
        driver->cuDevicePrimaryCtxRelease_v2(primary->device);
        atomic_store_explicit(&primary->retained, false, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return call_error(result);
}

/* Whether it is the device's primary context, be it that only others have retained it so far. */
static bool is_primary(CUcontext context, int ordinal)
{
    struct primary *primary = primary_of(ordinal);
    unsigned int flags;
    int active = 0;
    if (!is_retained(primary) &&
        (call_driver()->cuDevicePrimaryCtxGetState(primary->device, &flags, &active) || !active))
        return false;
    return retain(primary) == cudaSuccess && handle_of(primary) == context;
}

/* A context that the program created itself is not the runtime's to destroy. */
static cudaError_t reset_device(void)
{
    CUcontext context = usable_context();
    int ordinal;
    cudaError_t error = context_current_device(&ordinal);
    if (error || (context && !is_primary(context, ordinal)))
        return error;
    chosen_device = ordinal;
    error = reset_primary(primary_of(ordinal));
    return error ? error : call_error(call_driver()->cuCtxSetCurrent(NULL));
}

GMT_EXPORT cudaError_t cudaDeviceReset(void)
{
    return CALL(NEEDS_DEVICES, reset_device());
}
