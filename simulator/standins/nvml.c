/* SPDX-License-Identifier: MIT */
/*
 * NVML: the count of devices, and the processes on them. It reads the SPEC alone, because NVML does
 * not initialize CUDA; of a process that has, the simulated driver knows the rest. PyTorch calls
 * NVML when out of memory and for expandable segments; the real library would report the real
 * devices.
 */
#include "standin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common/sim_spec.h"
#include "simulator/card.h"
#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };

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

/* --- what the simulated driver knows --- */

enum { PROCESSES_MAX = 256 };

/* -1: the process has not initialized CUDA. */
static int ask_driver(const void *device, char *uuid, struct sim_process *processes)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const int index = (int)(uintptr_t)device - 1;
    int count = -1;
    if (!driver)
        return -1;
    sim_card_function *const card =
        GMT_FUNCTION(sim_card_function *, dlsym(driver, SIM_CARD_FUNCTION));
    if (card)
        count = card(index, uuid, processes, PROCESSES_MAX);
    dlclose(driver);
    return count < PROCESSES_MAX ? count : PROCESSES_MAX;
}

/* As the driver's cuDeviceGetUuid and nvidia-smi have it. */
STANDIN(int, nvmlDeviceGetUUID, (const void *device, char *text, unsigned bytes))
{
    struct sim_process processes[PROCESSES_MAX];
    char uuid[16];
    if (ask_driver(device, uuid, processes) < 0)
        return NOT_SUPPORTED;
    int length = snprintf(text, bytes, "GPU-");
    for (int i = 0; i < 16 && length < (int)bytes; i++)
        length += snprintf(text + length, bytes - (unsigned)length, "%s%02x",
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           (unsigned)(unsigned char)uuid[i]);
    return length < (int)bytes ? SUCCESS : INSUFFICIENT_SIZE;
}

/* The first two members of nvmlProcessInfo_t of all versions; from the second on, two more follow. */
struct process_info {
    unsigned pid;
    unsigned long long used_bytes;
};
enum { OLD_BYTES = sizeof(struct process_info), NEW_BYTES = OLD_BYTES + 2 * sizeof(unsigned) };

static int list_processes(const void *device, unsigned *count, char *infos, size_t info_bytes)
{
    struct sim_process processes[PROCESSES_MAX];
    char uuid[16];
    int found = ask_driver(device, uuid, processes);
    if (found < 0) { /* others are all it can know */
        processes[0] = (struct sim_process){SIM_OTHERS_PID, spec_of_process().others_bytes};
        found = processes[0].bytes != 0;
    }
    const unsigned room = *count;
    *count = (unsigned)found;
    if (room < *count || (*count && !infos))
        return INSUFFICIENT_SIZE;
    for (int i = 0; i < found; i++) {
        const struct process_info info = {processes[i].pid, processes[i].bytes};
        memset(infos + (size_t)i * info_bytes, 0xff,
               info_bytes); /* no instances of a divided card */
        memcpy(infos + (size_t)i * info_bytes, &info, sizeof info);
    }
    return SUCCESS;
}

#define PROCESSES(name, bytes)                                                                     \
    STANDIN(int, name, (const void *device, unsigned *count, void *infos))                         \
    {                                                                                              \
        return list_processes(device, count, infos, bytes);                                        \
    }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, OLD_BYTES)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, NEW_BYTES)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, NEW_BYTES)

/* --- features that simulated devices lack --- */

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
REFUSED(nvmlDeviceGetUtilizationRates)
