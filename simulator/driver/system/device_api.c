/* SPDX-License-Identifier: MIT */
/*
 * API functions that initialize the driver and query devices.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "simulator/card.h"
#include "simulator/driver/machine/call.h"
#include "gpumemtrace/compiler.h"

CUresult cuInit(unsigned int flags)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING))
        call.result = call_initialize(flags);
    return call_end(&call);
}

CUresult cuDriverGetVersion(int *version)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_NOTHING) && call_requires(&call, version != NULL))
        *version = CUDA_VERSION;
    return call_end(&call);
}

/* The simulator has no export tables, because NVIDIA does not document them. */
CUresult cuGetExportTable(GMT_UNUSED const void **table, GMT_UNUSED const CUuuid *id)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceGetCount(int *count)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, count != NULL))
        *count = device_count();
    return call_end(&call);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, device != NULL) &&
        call_device(&call, ordinal))
        *device = ordinal;
    return call_end(&call);
}

CUresult cuDeviceGetName(char *name, int name_bytes, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, name && name_bytes > 0) && call_device(&call, ordinal))
        snprintf(name, (size_t)name_bytes, "%s", device_spec()->device_name);
    return call_end(&call);
}

static CUresult get_uuid(const char *function, CUuuid *uuid, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_INIT) && call_requires(&call, uuid != NULL)) {
        const struct device *device = call_device(&call, ordinal);
        if (device)
            device_uuid(device->index, uuid);
    }
    return call_end(&call);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal)
{
    return get_uuid(__func__, uuid, ordinal);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal)
{
    return get_uuid(__func__, uuid, ordinal);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, bytes != NULL) &&
        call_device(&call, ordinal))
        *bytes = device_spec()->total_bytes;
    return call_end(&call);
}

/* For the stand-in of NVML. */
int gpumemtrace_simulator_card(int index, char *uuid, struct sim_process *processes, unsigned most)
{
    CUuuid id;
    device_uuid(index, &id);
    memcpy(uuid, id.bytes, sizeof id.bytes);
    if (!call_lock())
        return 0;
    const int count = (int)device_processes(index, processes, most);
    call_unlock();
    return count;
}

struct capability {
    int major, minor;
    int threads, blocks; /* per multiprocessor */
    int shared_kib, shared_block_kib;
};

static const struct capability *capability_limits(const struct sim_spec *spec)
{
    static const struct capability capabilities[] = {
#define CAPABILITY(...) {__VA_ARGS__},
#include "capabilities.def"
    };
    size_t i = 0;
    while (capabilities[i].major && (capabilities[i].major != spec->capability_major ||
                                     capabilities[i].minor != spec->capability_minor))
        i++;
    return &capabilities[i];
}

static int attribute_value(const struct device *device, CUdevice_attribute attribute)
{
    const struct sim_spec *spec = device_spec();
    const struct capability *limits = capability_limits(spec);
    switch (attribute) {
#define VALUE(name, value)                                                                         \
    case CU_DEVICE_ATTRIBUTE_##name:                                                               \
        return value;
#include "attributes.def"
    default:
        return 0;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, value && attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX)) {
        const struct device *device = call_device(&call, ordinal);
        if (device)
            *value = attribute_value(device, attribute);
    }
    return call_end(&call);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, major && minor) &&
        call_device(&call, ordinal)) {
        *major = device_spec()->capability_major;
        *minor = device_spec()->capability_minor;
    }
    return call_end(&call);
}

static void write_bus_id(const struct device *device, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "0000:%02X:00.0", (unsigned)device->index + 1);
}

CUresult cuDeviceGetPCIBusId(char *text, int text_bytes, CUdevice ordinal)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, text && text_bytes > 0)) {
        const struct device *device = call_device(&call, ordinal);
        if (device)
            write_bus_id(device, text, (size_t)text_bytes);
    }
    return call_end(&call);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *ordinal, const char *text)
{
    struct call call;
    char own[16];
    if (!call_begin(&call, __func__, CALL_NEEDS_INIT) || !call_requires(&call, ordinal && text))
        goto out;
    call.result = CUDA_ERROR_INVALID_DEVICE;
    for (int i = 0; i < device_count(); i++) {
        write_bus_id(device_at(i), own, sizeof own);
        if (!strcasecmp(own, text)) {
            *ordinal = i;
            call.result = CUDA_SUCCESS;
        }
    }
out:
    return call_end(&call);
}

/* All simulated devices have peer access to each other. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peer)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, can != NULL) &&
        call_device(&call, ordinal) && call_device(&call, peer))
        *can = ordinal != peer;
    return call_end(&call);
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) &&
        call_requires(&call, value && source != destination) && call_device(&call, source) &&
        call_device(&call, destination))
        *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return call_end(&call);
}
