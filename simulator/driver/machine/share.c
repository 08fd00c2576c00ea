/* SPDX-License-Identifier: MIT */
/*
 * Making and reading names. See share.h.
 */
#include "share.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

static const char magic[8] = "gmtname";

/* Returns the time when the process made its first name. Together with the pid, this number
 * identifies the process. */
static uint64_t process_number(void)
{
    static uint64_t number;
    struct timespec now;
    if (!number && !clock_gettime(CLOCK_BOOTTIME, &now))
        number = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return number;
}

struct share_name share_name_of(enum share_kind kind, uint64_t id, uint64_t size_bytes,
                                const struct device *device)
{
    struct share_name name = {
        .kind = kind,
        .pid = getpid(),
        .process = process_number(),
        .id = id,
        .size_bytes = size_bytes,
        .device_index = device ? device->index : -1,
    };
    memcpy(name.magic, magic, sizeof name.magic);
    return name;
}

bool share_read(const void *bytes, enum share_kind kind, struct share_name *name)
{
    struct share_name read;
    memcpy(&read, bytes, sizeof read);
    if (memcmp(read.magic, magic, sizeof magic) || read.kind != kind)
        return false;
    *name = read;
    return true;
}

bool share_is_own(const struct share_name *name)
{
    return name->pid == getpid() && name->process == process_number();
}

bool share_is_exporter_alive(const struct share_name *name)
{
    return !kill(name->pid, 0) || errno == EPERM;
}

bool share_is_same(const struct share_name *a, const struct share_name *b)
{
    return !memcmp(a, b, sizeof *a);
}

struct device *share_device(const struct share_name *name)
{
    for (int i = 0; i < device_count(); i++)
        if (device_at(i)->index == name->device_index)
            return device_at(i);
    return NULL;
}

CUresult share_location(const struct share_name *name, CUmemLocation *location)
{
    const struct device *device = share_device(name);
    if (!device && name->device_index >= 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    *location = device ? (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal}
                       : (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    return CUDA_SUCCESS;
}

int share_export(const struct share_name *name)
{
    const int descriptor = memfd_create("gpumemtrace-simulator", MFD_CLOEXEC);
    if (descriptor < 0)
        return -1;
    if (write(descriptor, name, sizeof *name) == sizeof *name)
        return descriptor;
    close(descriptor);
    return -1;
}

bool share_import(int descriptor, enum share_kind kind, struct share_name *name)
{
    struct share_name bytes;
    return pread(descriptor, &bytes, sizeof bytes, 0) == sizeof bytes &&
           share_read(&bytes, kind, name);
}
