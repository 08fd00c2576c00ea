/* SPDX-License-Identifier: MIT */
/*
 * Devices: attributes, limits, peers, bus ids, versions. Functions that choose a device are in
 * context.c. Attributes and limits have the same numbers as in the driver.
 */
#include "call.h"
#include "context.h"
#include "soname.h"

static cudaError_t get_runtime_version(int *version)
{
    *version = runtime_version();
    return cudaSuccess;
}

GMT_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
    return CALL(NEEDS_NOTHING, CALL_UNLESS_NULL(version, get_runtime_version(version)));
}

/* If there is no driver, the version is 0 and the call succeeds. */
static cudaError_t get_driver_version(int *version)
{
    *version = 0;
    return driver_table() ? error_of_driver(call_driver()->cuDriverGetVersion(version))
                          : cudaSuccess;
}

GMT_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
    return CALL(NEEDS_NOTHING, CALL_UNLESS_NULL(version, get_driver_version(version)));
}

static cudaError_t get_attribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(call_driver()->cuDeviceGetAttribute(
                       value, (CUdevice_attribute)attribute, device));
}

GMT_EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(value, get_attribute(value, attribute, device)));
}

GMT_EXPORT cudaError_t cudaDeviceSynchronize(void)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuCtxSynchronize()));
}

GMT_EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuCtxSetLimit((CUlimit)limit, value)));
}

GMT_EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuCtxGetLimit(value, (CUlimit)limit)));
}

static cudaError_t get_cache_config(enum cudaFuncCache *config)
{
    CUfunc_cache answer;
    const cudaError_t error = error_of_driver(call_driver()->cuCtxGetCacheConfig(&answer));
    if (error == cudaSuccess)
        *config = (enum cudaFuncCache)answer;
    return error;
}

GMT_EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    return CALL(NEEDS_CONTEXT, CALL_UNLESS_NULL(config, get_cache_config(config)));
}

GMT_EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuCtxSetCacheConfig((CUfunc_cache)config)));
}

GMT_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return CALL(NEEDS_CONTEXT,
                error_of_driver(call_driver()->cuCtxGetStreamPriorityRange(least, greatest)));
}

static cudaError_t get_bus_id(char *text, int text_bytes, int ordinal)
{
    CUdevice device;
    const cudaError_t error = context_device(ordinal, &device);
    return error ? error
                 : error_of_driver(call_driver()->cuDeviceGetPCIBusId(text, text_bytes, device));
}

GMT_EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int text_bytes, int device)
{
    return CALL(NEEDS_DEVICES, get_bus_id(text, text_bytes, device));
}

/* Finds the number of the device with this driver handle. This is the inverse of context_device. */
static cudaError_t find_ordinal(CUdevice wanted, int *ordinal)
{
    CUdevice device;
    for (int i = 0; i < context_device_count(); i++)
        if (context_device(i, &device) == cudaSuccess && device == wanted) {
            *ordinal = i;
            return cudaSuccess;
        }
    return cudaErrorInvalidDevice;
}

static cudaError_t get_by_bus_id(int *ordinal, const char *text)
{
    CUdevice device;
    const cudaError_t error = error_of_driver(call_driver()->cuDeviceGetByPCIBusId(&device, text));
    return error ? error : find_ordinal(device, ordinal);
}

GMT_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(device, get_by_bus_id(device, text)));
}

/* --- two devices --- */

static cudaError_t find_pair(int ordinal, int peer_ordinal, CUdevice *device, CUdevice *peer)
{
    const cudaError_t error = context_device(ordinal, device);
    return error ? error : context_device(peer_ordinal, peer);
}

static cudaError_t can_access_peer(int *can, int ordinal, int peer_ordinal)
{
    CUdevice device, peer;
    const cudaError_t error = find_pair(ordinal, peer_ordinal, &device, &peer);
    return error ? error : error_of_driver(call_driver()->cuDeviceCanAccessPeer(can, device, peer));
}

GMT_EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(can, can_access_peer(can, device, peer)));
}

static cudaError_t get_pair_attribute(int *value, enum cudaDeviceP2PAttr attribute, int source,
                                      int destination)
{
    CUdevice from, to;
    const cudaError_t error = find_pair(source, destination, &from, &to);
    return error ? error
                 : error_of_driver(call_driver()->cuDeviceGetP2PAttribute(
                       value, (CUdevice_P2PAttribute)attribute, from, to));
}

GMT_EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                 int source, int destination)
{
    return CALL(NEEDS_DEVICES,
                CALL_UNLESS_NULL(value, get_pair_attribute(value, attribute, source, destination)));
}

static cudaError_t enable_peer(int peer, unsigned int flags)
{
    CUcontext context;
    const cudaError_t error = context_primary(peer, &context);
    return error ? error : error_of_driver(call_driver()->cuCtxEnablePeerAccess(context, flags));
}

GMT_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    return CALL(NEEDS_CONTEXT, enable_peer(peer, flags));
}

static cudaError_t disable_peer(int peer)
{
    CUcontext context;
    const cudaError_t error = context_primary(peer, &context);
    return error ? error : error_of_driver(call_driver()->cuCtxDisablePeerAccess(context));
}

GMT_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return CALL(NEEDS_CONTEXT, disable_peer(peer));
}

/* --- settings of the current device --- */

GMT_EXPORT cudaError_t cudaProfilerStart(void)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuProfilerStart()));
}

GMT_EXPORT cudaError_t cudaProfilerStop(void)
{
    return CALL(NEEDS_CONTEXT, error_of_driver(call_driver()->cuProfilerStop()));
}
