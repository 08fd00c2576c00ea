/* SPDX-License-Identifier: MIT */
/*
 * NVML: the count and sizes of devices, and no processes on them. It reads the SPEC alone, because
 * NVML does not initialize CUDA. PyTorch calls NVML when out of memory and for expandable segments;
 * the real library would report the real devices.
 */
#include "standin.h"

#include <stdio.h>
#include <string.h>

#include "common/sim_spec.h"
#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };

static struct sim_spec spec_of_process(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM");
    struct sim_spec spec = {.device_count = 1};
    sim_spec_parse(text && *text ? text : SIM_SPEC_DEFAULT, &spec, NULL);
    return spec;
}

STANDIN(int, nvmlInit_v2, (void))
{
    return SUCCESS;
}
STANDIN(int, nvmlInit, (void))
{
    return SUCCESS;
}
STANDIN(int, nvmlInitWithFlags, (unsigned flags))
{
    (void)flags;
    return SUCCESS;
}
STANDIN(int, nvmlShutdown, (void))
{
    return SUCCESS;
}
STANDIN(const char *, nvmlErrorString, (int status))
{
    return status ? "Not Supported" : "Success";
}

STANDIN(int, nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
    return cudaDriverGetVersion(version) ? NOT_SUPPORTED : SUCCESS;
}

/* --- devices: the handle is the device's number plus 1 --- */

STANDIN(int, nvmlDeviceGetCount_v2, (unsigned *count))
{
    *count = (unsigned)spec_of_process().device_count;
    return SUCCESS;
}
STANDIN(int, nvmlDeviceGetCount, (unsigned *count))
{
    return nvmlDeviceGetCount_v2(count);
}

STANDIN(int, nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device))
{
    if (index >= (unsigned)spec_of_process().device_count)
        return INVALID_ARGUMENT;
    *device = (void *)(uintptr_t)(index + 1);
    return SUCCESS;
}
STANDIN(int, nvmlDeviceGetHandleByIndex, (unsigned index, void **device))
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* "DOMAIN:BUS:DEVICE.FUNCTION"; simulated devices are on bus 1, 2, 3 … */
STANDIN(int, nvmlDeviceGetHandleByPciBusId_v2, (const char *text, void **device))
{
    unsigned domain, bus;
    if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || bus == 0)
        return INVALID_ARGUMENT;
    return nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
}
STANDIN(int, nvmlDeviceGetHandleByPciBusId, (const char *text, void **device))
{
    return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}

STANDIN(int, nvmlDeviceGetName, (const void *device, char *text, unsigned bytes))
{
    (void)device;
    snprintf(text, bytes, "%s", spec_of_process().device_name);
    return SUCCESS;
}

/* --- features that simulated devices lack --- */

#define NO_PROCESSES(name)                                                                         \
    STANDIN(int, name, (const void *device, unsigned *count, void *processes))                     \
    {                                                                                              \
        (void)device, (void)processes;                                                             \
        *count = 0;                                                                                \
        return SUCCESS;                                                                            \
    }
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)

/* Fills a struct whose first member is its version, with its size in the low bits; zeros mean no
 * fabric. */
STANDIN(int, nvmlDeviceGetGpuFabricInfoV, (const void *device, unsigned *info))
{
    const size_t bytes = *info & 0xffffff;
    (void)device;
    if (bytes > sizeof *info)
        memset(info + 1, 0, bytes - sizeof *info);
    return SUCCESS;
}

#define REFUSED(name)                                                                              \
    STANDIN(int, name, (void))                                                                     \
    {                                                                                              \
        return NOT_SUPPORTED;                                                                      \
    }
REFUSED(nvmlDeviceGetClockInfo)
REFUSED(nvmlDeviceGetHandleByUUID)
REFUSED(nvmlDeviceGetMemoryInfo)
REFUSED(nvmlDeviceGetMemoryInfo_v2)
REFUSED(nvmlDeviceGetNvLinkRemoteDeviceType)
REFUSED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
REFUSED(nvmlDeviceGetP2PStatus)
REFUSED(nvmlDeviceGetPowerUsage)
REFUSED(nvmlDeviceGetTemperature)
REFUSED(nvmlDeviceGetUUID)
REFUSED(nvmlDeviceGetUtilizationRates)
