/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Makes a context and prints "ready". Executes each line of stdin, and prints the result in one
 * line:
 *
 *     alloc MIB        allocates memory of device 0; prints the result
 *     ask SUFFIX ROOM  calls nvmlDeviceGetComputeRunningProcesses with this suffix ("-": none), for
 *                      at most ROOM processes; prints status, count, and PID:BYTES of each
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

enum { MOST = 64 };

typedef int init_function(void);
typedef int handle_function(unsigned index, void **card);
typedef int processes_function(void *card, unsigned *count, void *infos);

struct old_info {
    unsigned pid;
    unsigned long long bytes;
};
struct new_info {
    struct old_info info;
    unsigned instances[2];
};

static void *find(const char *name)
{
    static void *nvml;
    if (!nvml)
        nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    return nvml ? dlsym(nvml, name) : NULL;
}

static void print_answer(int status, unsigned count, const char *infos, size_t info_bytes)
{
    struct old_info info;
    printf("%d %u", status, count);
    for (unsigned i = 0; !status && i < count; i++) {
        memcpy(&info, infos + i * info_bytes, sizeof info);
        printf(" %u:%llu", info.pid, info.bytes);
    }
    printf("\n");
}

static int ask(const char *suffix, unsigned room)
{
    static struct new_info infos[MOST];
    char name[64];
    unsigned count = room;
    void *card = NULL;
    const int is_old = !strcmp(suffix, "-");
    snprintf(name, sizeof name, "nvmlDeviceGetComputeRunningProcesses%s", is_old ? "" : suffix);
    init_function *const init = GMT_FUNCTION(init_function *, find("nvmlInit_v2"));
    handle_function *const handle =
        GMT_FUNCTION(handle_function *, find("nvmlDeviceGetHandleByIndex_v2"));
    processes_function *const processes = GMT_FUNCTION(processes_function *, find(name));
    if (!init || !handle || !processes || init() || handle(0, &card) || room > MOST)
        return -1;
    const int status = processes(card, &count, infos);
    print_answer(status, count, (const char *)infos,
                 is_old ? sizeof(struct old_info) : sizeof(struct new_info));
    return 0;
}

int main(void)
{
    char line[64], suffix[8];
    unsigned number;
    CUcontext context;
    CUdeviceptr address;
    CUdevice device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate_v2(&context, 0, device))
        return 9;
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "alloc %u", &number) == 1)
            printf("%d\n", (int)cuMemAlloc_v2(&address, (size_t)number << 20));
        else if (sscanf(line, "ask %7s %u", suffix, &number) != 2 || ask(suffix, number))
            return 8;
        fflush(stdout);
    }
    return 0;
}
