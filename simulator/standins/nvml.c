/* SPDX-License-Identifier: MIT */
/*
 * NVML, from the SPEC and the simulated driver's figures of a card's memory. NVML does not
 * initialize CUDA and ignores CUDA_VISIBLE_DEVICES. Functions that read sensors (power,
 * temperature, clocks) return "not supported", because any number would be invented.
 */
#include "standin.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/sim_spec.h"
#include "simulator/card.h"
#include "gpumemtrace/cuda/abi.h"

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    VERSION_MISMATCH = 25,
};

/* The first driver for CUDA 13.0, which is the version that the simulated driver reports. */
#define DRIVER_VERSION "580.65.06"
#define NVML_VERSION "13." DRIVER_VERSION

static struct sim_spec spec_of_process(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM");
    struct sim_spec spec = {.device_count = 1};
    sim_spec_parse(text && *text ? text : SIM_SPEC_DEFAULT, &spec, NULL);
    return spec;
}

static int give_text(char *text, unsigned bytes, const char *from)
{
    if (!text)
        return INVALID_ARGUMENT;
    if (strlen(from) >= bytes)
        return INSUFFICIENT_SIZE;
    memcpy(text, from, strlen(from) + 1);
    return SUCCESS;
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
    switch (status) {
    case SUCCESS:
        return "Success";
    case INVALID_ARGUMENT:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NOT_FOUND:
        return "Not Found";
    case INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case VERSION_MISMATCH:
        return "API Argument Version Mismatch";
    default:
        return "Unknown Error";
    }
}

/* --- the system --- */

STANDIN(int, nvmlSystemGetDriverVersion, (char *text, unsigned bytes))
{
    return give_text(text, bytes, DRIVER_VERSION);
}
STANDIN(int, nvmlSystemGetNVMLVersion, (char *text, unsigned bytes))
{
    return give_text(text, bytes, NVML_VERSION);
}
STANDIN(int, nvmlSystemGetCudaDriverVersion_v2, (int *version))
{
    return cudaDriverGetVersion(version) ? NOT_SUPPORTED : SUCCESS;
}
STANDIN(int, nvmlSystemGetCudaDriverVersion, (int *version))
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

STANDIN(int, nvmlSystemGetProcessName, (unsigned pid, char *name, unsigned bytes))
{
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/%u/exe", pid);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return NOT_FOUND;
    path[length] = '\0';
    return give_text(name, bytes, path);
}

/* --- devices: the handle is the device's number plus 1 --- */

static bool is_device(const void *device)
{
    return (uintptr_t)device - 1 < (uintptr_t)spec_of_process().device_count;
}

static unsigned index_of(const void *device)
{
    return (unsigned)(uintptr_t)device - 1;
}

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
    if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || bus == 0 ||
        nvmlDeviceGetHandleByIndex_v2(bus - 1, device))
        return NOT_FOUND;
    return SUCCESS;
}
STANDIN(int, nvmlDeviceGetHandleByPciBusId, (const char *text, void **device))
{
    return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}

STANDIN(int, nvmlDeviceGetName, (const void *device, char *text, unsigned bytes))
{
    return is_device(device) ? give_text(text, bytes, spec_of_process().device_name)
                             : INVALID_ARGUMENT;
}

STANDIN(int, nvmlDeviceGetIndex, (const void *device, unsigned *index))
{
    *index = index_of(device);
    return is_device(device) ? SUCCESS : INVALID_ARGUMENT;
}
STANDIN(int, nvmlDeviceGetMinorNumber, (const void *device, unsigned *number))
{
    return nvmlDeviceGetIndex(device, number);
}

STANDIN(int, nvmlDeviceGetCudaComputeCapability, (const void *device, int *major, int *minor))
{
    const struct sim_spec spec = spec_of_process();
    *major = spec.capability_major;
    *minor = spec.capability_minor;
    return is_device(device) ? SUCCESS : INVALID_ARGUMENT;
}

/* nvmlDeviceArchitecture_t: Volta 5, Turing 6, Ampere 7, Ada 8, Hopper 9, Blackwell 10. */
STANDIN(int, nvmlDeviceGetArchitecture, (const void *device, unsigned *architecture))
{
    const struct sim_spec spec = spec_of_process();
    const int capability = 10 * spec.capability_major + spec.capability_minor;
    *architecture = capability >= 100  ? 10
                    : capability >= 90 ? 9
                    : capability >= 89 ? 8
                    : capability >= 80 ? 7
                    : capability >= 75 ? 6
                                       : 5;
    return is_device(device) ? SUCCESS : INVALID_ARGUMENT;
}

/* Version 3 of nvmlPciInfo_t. Other versions begin the same way and end in reserved zeros. */
struct pci_info {
    char old_bus_id[16];
    unsigned domain, bus, device, device_id;
    unsigned subsystem_id;
    char bus_id[32];
};

static int give_pci_info(const void *device, struct pci_info *info, size_t bytes)
{
    struct pci_info all = {.bus = index_of(device) + 1, .device_id = 0x10de};
    if (!is_device(device) || !info)
        return INVALID_ARGUMENT;
    snprintf(all.old_bus_id, sizeof all.old_bus_id, "0000:%02X:00.0", all.bus);
    if (bytes == sizeof all)
        snprintf(all.bus_id, sizeof all.bus_id, "00000000:%02X:00.0", all.bus);
    memcpy(info, &all, bytes);
    return SUCCESS;
}

#define PCI_INFO(name, bytes)                                                                      \
    STANDIN(int, name, (const void *device, struct pci_info *info))                                \
    {                                                                                              \
        return give_pci_info(device, info, bytes);                                                 \
    }
PCI_INFO(nvmlDeviceGetPciInfo, 48)
PCI_INFO(nvmlDeviceGetPciInfo_v2, 52)
PCI_INFO(nvmlDeviceGetPciInfo_v3, sizeof(struct pci_info))

/* --- figures of the simulated driver --- */

enum { PROCESSES_MAX = 256, UUID_BYTES = 16 };

/* Returns the number of processes that hold memory of the card; -1: no such device. */
static int ask_driver(const void *device, char *uuid, struct sim_process *processes)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver || !is_device(device))
        return -1;
    sim_card_function *const card =
        GMT_FUNCTION(sim_card_function *, dlsym(driver, SIM_CARD_FUNCTION));
    const int count = card ? card((int)index_of(device), uuid, processes, PROCESSES_MAX) : -1;
    dlclose(driver);
    return count < PROCESSES_MAX ? count : PROCESSES_MAX;
}

/* In the form of nvidia-smi, from the bytes of cuDeviceGetUuid. */
STANDIN(int, nvmlDeviceGetUUID, (const void *device, char *text, unsigned bytes))
{
    struct sim_process processes[PROCESSES_MAX];
    char uuid[UUID_BYTES], whole[64];
    if (ask_driver(device, uuid, processes) < 0)
        return INVALID_ARGUMENT;
    int length = snprintf(whole, sizeof whole, "GPU-");
    for (int i = 0; i < UUID_BYTES; i++)
        length += snprintf(whole + length, sizeof whole - (size_t)length, "%s%02x",
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                           (unsigned)(unsigned char)uuid[i]);
    return give_text(text, bytes, whole);
}

STANDIN(int, nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))
{
    char own[64];
    for (unsigned i = 0; !nvmlDeviceGetHandleByIndex_v2(i, device); i++)
        if (!nvmlDeviceGetUUID(*device, own, sizeof own) && !strcasecmp(own, uuid))
            return SUCCESS;
    return NOT_FOUND;
}

struct memory {
    unsigned long long total_bytes, free_bytes, used_bytes;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total_bytes, reserved_bytes, free_bytes, used_bytes;
};
#define MEMORY_V2 ((unsigned)sizeof(struct memory_v2) | 2u << 24)

/* The total is CUDA's: it excludes memory that a driver reserves for itself. */
STANDIN(int, nvmlDeviceGetMemoryInfo, (const void *device, struct memory *memory))
{
    struct sim_process processes[PROCESSES_MAX];
    char uuid[UUID_BYTES];
    const int count = ask_driver(device, uuid, processes);
    if (count < 0 || !memory)
        return INVALID_ARGUMENT;
    *memory = (struct memory){.total_bytes = spec_of_process().total_bytes};
    for (int i = 0; i < count; i++)
        memory->used_bytes += processes[i].bytes;
    if (memory->total_bytes < memory->used_bytes) /* a card without limit */
        memory->total_bytes = memory->used_bytes;
    memory->free_bytes = memory->total_bytes - memory->used_bytes;
    return SUCCESS;
}

STANDIN(int, nvmlDeviceGetMemoryInfo_v2, (const void *device, struct memory_v2 *memory))
{
    struct memory plain;
    if (!memory || memory->version != MEMORY_V2)
        return memory ? VERSION_MISMATCH : INVALID_ARGUMENT;
    const int status = nvmlDeviceGetMemoryInfo(device, &plain);
    if (!status)
        *memory =
            (struct memory_v2){MEMORY_V2, plain.total_bytes, 0, plain.free_bytes, plain.used_bytes};
    return status;
}

/* The PCI window to the whole card: its size is a power of two. */
STANDIN(int, nvmlDeviceGetBAR1MemoryInfo, (const void *device, struct memory *memory))
{
    const uint64_t total_bytes = spec_of_process().total_bytes;
    if (!is_device(device) || !memory)
        return INVALID_ARGUMENT;
    *memory = (struct memory){.total_bytes = 1};
    while (memory->total_bytes < total_bytes)
        memory->total_bytes *= 2;
    memory->free_bytes = memory->total_bytes;
    return SUCCESS;
}

/* --- processes --- */

/* The first two members of every version of nvmlProcessInfo_t; from version 2 on, two more
 * follow. */
struct process_info {
    unsigned pid;
    unsigned long long used_bytes;
};
enum { OLD_BYTES = sizeof(struct process_info), NEW_BYTES = OLD_BYTES + 2 * sizeof(unsigned) };

static int list_processes(const void *device, unsigned *count, char *infos, size_t info_bytes)
{
    struct sim_process processes[PROCESSES_MAX];
    char uuid[UUID_BYTES];
    const int found = ask_driver(device, uuid, processes);
    if (found < 0)
        return INVALID_ARGUMENT;
    const unsigned room = *count;
    *count = (unsigned)found;
    if (room < *count || (*count && !infos))
        return INSUFFICIENT_SIZE;
    for (int i = 0; i < found; i++) {
        const struct process_info info = {processes[i].pid, processes[i].bytes};
        memset(infos + (size_t)i * info_bytes, 0xff, info_bytes); /* 0xff: no MIG instance */
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

/* No process does graphics or shares a context through MPS. */
#define NO_PROCESSES(name)                                                                         \
    STANDIN(int, name, (const void *device, unsigned *count, void *infos))                         \
    {                                                                                              \
        (void)infos;                                                                               \
        *count = 0;                                                                                \
        return is_device(device) ? SUCCESS : INVALID_ARGUMENT;                                     \
    }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

/* --- features that are off or empty: 0 in NVML --- */

/* A simulated card computes nothing, so its processors, memory, encoder and decoder are idle. */
#define TWO_ZEROS(name)                                                                            \
    STANDIN(int, name, (const void *device, unsigned *first, unsigned *second))                    \
    {                                                                                              \
        *first = *second = 0;                                                                      \
        return is_device(device) ? SUCCESS : INVALID_ARGUMENT;                                     \
    }
TWO_ZEROS(nvmlDeviceGetEncoderUtilization)
TWO_ZEROS(nvmlDeviceGetDecoderUtilization)

STANDIN(int, nvmlDeviceGetUtilizationRates, (const void *device, unsigned *rates))
{
    return nvmlDeviceGetEncoderUtilization(device, &rates[0], &rates[1]);
}

#define ZERO(name)                                                                                 \
    STANDIN(int, name, (const void *device, unsigned *value))                                      \
    {                                                                                              \
        *value = 0;                                                                                \
        return is_device(device) ? SUCCESS : INVALID_ARGUMENT;                                     \
    }
ZERO(nvmlDeviceGetBrand)
ZERO(nvmlDeviceGetComputeMode)
ZERO(nvmlDeviceGetDisplayActive)
ZERO(nvmlDeviceGetDisplayMode)
ZERO(nvmlDeviceGetMaxMigDeviceCount)
ZERO(nvmlDeviceGetPersistenceMode)
ZERO(nvmlDeviceIsMigDeviceHandle)

STANDIN(int, nvmlUnitGetCount, (unsigned *count))
{
    *count = 0;
    return SUCCESS;
}

/* MIG mode is off where a card supports it, because a simulated slice is a card of its own. */
STANDIN(int, nvmlDeviceGetMigMode, (const void *device, unsigned *current, unsigned *pending))
{
    const struct sim_spec spec = spec_of_process();
    const bool can_be_divided =
        spec.capability_major >= 8 && spec.capability_major <= 10 && spec.capability_minor == 0;
    const int status = nvmlDeviceGetEncoderUtilization(device, current, pending);
    return status || can_be_divided ? status : NOT_SUPPORTED;
}

/* Fills a struct that begins with its version, whose low bits are the struct's size. Zeros mean no
 * fabric. */
STANDIN(int, nvmlDeviceGetGpuFabricInfoV, (const void *device, unsigned *info))
{
    const size_t bytes = *info & 0xffffff;
    (void)device;
    if (bytes > sizeof *info)
        memset(info + 1, 0, bytes - sizeof *info);
    return SUCCESS;
}

/* --- functions that simulated devices lack --- */

#define REFUSED(name)                                                                              \
    STANDIN(int, name, (void))                                                                     \
    {                                                                                              \
        return NOT_SUPPORTED;                                                                      \
    }
#include "symbols/nvml_refused.def"
