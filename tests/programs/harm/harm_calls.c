/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda m */
/*
 * Calls every hooked function of the driver and the runtime with wrong arguments, and prints what
 * each call did to its caller: result, errno, the memory behind the first argument, the runtime's
 * last error, the signal mask, the rounding mode. All must be the same with and without the
 * recorder:
 *
 *     harm_calls early|late|thread    before a context exists, after, or on a thread without one
 *     harm_calls places               memory in every place, made on a thread without a context
 */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "trace/hook_ids.h"

#define PATTERN 0xa5
#define PATTERN_WORD 0xa5a5a5a5u
#define ODD_ERRNO 77

/* Has more parameters than any of the functions. All arguments are equal, so it does not matter
   which of them are in registers and which on the stack. */
typedef int any_function(const void *, const void *, const void *, const void *, const void *,
                         const void *, const void *, const void *, const void *, const void *);

static _Alignas(8) uint32_t room[128];

/* Counts words that differ from the pattern. Words are not printed, because they may be addresses;
 * bytes are not counted, because a byte of an address may equal the pattern's. */
static int changed_bytes(void)
{
    int changed = 0;
    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        changed += room[i] != PATTERN_WORD ? (int)sizeof *room : 0;
    return changed;
}

static void say_state(int result)
{
    sigset_t blocked;
    const int error = errno, rounding = fegetround();
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    printf(" = %d, errno %d, %d bytes, last error %d, signals %d%d%d, rounding %d\n", result, error,
           changed_bytes(), (int)cudaPeekAtLastError(), sigismember(&blocked, SIGUSR1),
           sigismember(&blocked, SIGXFSZ), sigismember(&blocked, SIGPIPE), rounding);
}

/* A struct of more than 16 bytes: x86-64 copies it to the stack, aarch64 passes its address. */
static const void *structure(const char *name, int position)
{
#ifdef __aarch64__
    static const uint64_t zeros[8];
    static const struct {
        const char *name;
        int position;
    } structures[] = {
        {"cuIpcOpenMemHandle", 2}, {"cuIpcOpenMemHandle_v2", 2}, {"cudaIpcOpenMemHandle", 2},
        {"cudaMalloc3D", 2},       {"cudaMalloc3DArray", 3},     {"cudaMallocMipmappedArray", 3},
    };
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
        if (structures[i].position == position && strcmp(structures[i].name, name) == 0)
            return zeros;
#else
    (void)name, (void)position;
#endif
    return NULL;
}

static void call(const char *name, any_function *function, const void *first)
{
    const void *second = structure(name, 2), *third = structure(name, 3);
    printf("%s(%s)", name, first ? "room" : "");
    memset(room, PATTERN, sizeof room);
    errno = ODD_ERRNO;
    say_state(function(first, second, third, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    (void)cudaGetLastError();
}

/* A function that gets a handle reads memory at this handle, as NVIDIA's functions do. So only
   NULL is safe. */
static bool first_is_out(const char *name)
{
    static const char *const outs[] = {"Alloc",  "Create", "Malloc", "GetInfo",
                                       "Retain", "Open",   "Import", "Load"};
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
        if (strstr(name, outs[i]) && !strstr(name, "Node") && !strstr(name, "Pointer"))
            return true;
    return false;
}

static void call_all(void)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        const char *name = hook_name((enum hook)hook);
        any_function *function = hook_rows[hook].api == API_gpumemtrace
                                     ? NULL
                                     : GMT_FUNCTION(any_function *, dlsym(RTLD_DEFAULT, name));
        if (!function)
            continue;
        call(name, function, NULL);
        if (first_is_out(name))
            call(name, function, room);
    }
}

static void *make_in_every_place(void *unused)
{
    static const struct {
        const char *name;
        CUmemLocationType type;
        int id;
    } places[] = {
        {"device", CU_MEM_LOCATION_TYPE_DEVICE, 0},
        {"no such device", CU_MEM_LOCATION_TYPE_DEVICE, 7},
        {"host", CU_MEM_LOCATION_TYPE_HOST, 0},
        {"host node", CU_MEM_LOCATION_TYPE_HOST_NUMA, 0},
        {"no such node", CU_MEM_LOCATION_TYPE_HOST_NUMA, 99},
        {"nowhere", CU_MEM_LOCATION_TYPE_INVALID, 0},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {places[i].type, places[i].id}};
        CUmemGenericAllocationHandle handle = 0;
        memset(room, PATTERN, sizeof room);
        errno = ODD_ERRNO;
        const int result = (int)cuMemCreate(&handle, (size_t)2 << 20, &properties, 0);
        printf("%s: %s", places[i].name, handle ? "made" : "nothing");
        say_state(result);
        if (handle)
            say_state((int)cuMemRelease(handle));
    }
    return unused;
}

static void *call_in_thread(void *unused)
{
    (void)unused;
    call_all();
    return NULL;
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";
    pthread_t thread;
    sigset_t usr1;
    setvbuf(stdout, NULL, _IONBF, 0);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    fesetround(FE_UPWARD);
    if (strcmp(when, "early") != 0 && cudaFree(NULL) != 0)
        return 9;
    if (strcmp(when, "early") == 0 || strcmp(when, "late") == 0)
        call_all();
    else if (pthread_create(&thread, NULL,
                            strcmp(when, "places") == 0 ? make_in_every_place : call_in_thread,
                            NULL) == 0)
        pthread_join(thread, NULL);
    return 5;
}
