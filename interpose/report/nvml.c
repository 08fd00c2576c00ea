/* SPDX-License-Identifier: MIT */
/*
 * See nvml.h. NVML's answer names a card only by NVML's handle. So the recorder asks NVML for the
 * card's UUID, on the thread that has just called NVML, and compares it with the UUIDs that the
 * driver reports.
 */
#include "nvml.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "interpose/cuda/device.h"
#include "interpose/image/image_list.h"
#include "interpose/recording/event_slot.h"

enum { SUCCESS = 0, UUID_BYTES = 96 };

/* The first members of nvmlProcessInfo_t, the same in all its versions. */
struct process_info {
    unsigned pid;
    unsigned long long used_bytes; /* UINT64_MAX: NVML does not tell */
};

typedef int processes_function(void *card, unsigned *count, void *infos);
typedef int uuid_function(void *card, char *text, unsigned text_bytes);

/* The versions of nvmlDeviceGetComputeRunningProcesses, which differ in name and layout. `real` is
 * accessed with relaxed order, because it is set before any thread gets our function. */
static struct version {
    const char *suffix;
    size_t info_bytes;
    _Atomic(void *) real; /* NULL: never looked up */
} versions[] = {
    {"", sizeof(struct process_info), NULL},
    {"_v2", sizeof(struct process_info) + 2 * sizeof(unsigned), NULL},
    {"_v3", sizeof(struct process_info) + 2 * sizeof(unsigned), NULL},
};
enum { VERSION_COUNT = sizeof versions / sizeof *versions };

/* --- names --- */

/* Returns the rest of the name after this beginning, or NULL if the name begins differently. */
static const char *after(const char *name, const char *beginning)
{
    while (*beginning)
        if (*name++ != *beginning++)
            return NULL;
    return name;
}

static struct version *find_version(const char *name)
{
    const char *suffix = after(name, "nvmlDeviceGetComputeRunningProcesses");
    for (int i = 0; suffix && i < VERSION_COUNT; i++) {
        const char *end = after(suffix, versions[i].suffix);
        if (end && !*end)
            return &versions[i];
    }
    return NULL;
}

bool nvml_stands_before(const char *name)
{
    return find_version(name) != NULL;
}

/* --- answers --- */

static int cuda_device(void *card)
{
    static _Atomic(void *) cached;
    char uuid[UUID_BYTES];
    uuid_function *const ask = GMT_FUNCTION(
        uuid_function *, image_list_function(&cached, "libnvidia-ml.so", "nvmlDeviceGetUUID"));
    if (!ask || ask(card, uuid, sizeof uuid) != SUCCESS)
        return DEVICE_UNKNOWN;
    return device_of_uuid(uuid);
}

static void write_process(struct thread *thread, int device, unsigned count,
                          const struct process_info *info)
{
    const struct event_args args = {.kind = EVENT_PROCESS_MEMORY,
                                    .device = device,
                                    .object = info->pid,
                                    .size_bytes = info->used_bytes,
                                    .address = count};
    event_write(thread, HOOK_nvml, &args);
}

static void write_answer(void *card, unsigned count, const char *infos, size_t info_bytes)
{
    const int saved_errno = errno;
    struct thread *thread = thread_current();
    struct process_info info = {0};
    if (thread) {
        const int device = cuda_device(card);
        if (!count)
            write_process(thread, device, 0, &info);
        for (unsigned i = 0; i < count; i++) {
            memcpy(&info, infos + (size_t)i * info_bytes, sizeof info);
            write_process(thread, device, count, &info);
        }
    }
    errno = saved_errno;
}

static int ask_processes(const struct version *version, void *card, unsigned *count, void *infos)
{
    processes_function *const real = GMT_FUNCTION(
        processes_function *, atomic_load_explicit(&version->real, memory_order_relaxed));
    const int status = real(card, count, infos);
    if (status == SUCCESS && count && (infos || !*count))
        write_answer(card, *count, infos, version->info_bytes);
    return status;
}

#define HOOK(number)                                                                               \
    static int ask_processes_##number(void *card, unsigned *count, void *infos)                    \
    {                                                                                              \
        return ask_processes(&versions[number], card, count, infos);                               \
    }
HOOK(0)
HOOK(1)
HOOK(2)

/* If a second NVML is loaded in the process, its functions are not hooked. */
void *nvml_stand_before(void *real, const char *name)
{
    static processes_function *const hooks[VERSION_COUNT] = {ask_processes_0, ask_processes_1,
                                                             ask_processes_2};
    struct version *version = find_version(name);
    void *known = NULL;
    if (!atomic_compare_exchange_strong_explicit(&version->real, &known, real, memory_order_relaxed,
                                                 memory_order_relaxed) &&
        known != real)
        return real;
    return __extension__(void *) hooks[version - versions];
}
