/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Phases from the public API, from header-only NVTX (its public injection protocol, played here)
 * and from the functions of libnvToolsExt. Before its first CUDA call it opens "setup" through
 * NVTX.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)

typedef void callback(void);

/* What NVTX offers to the injected library: a place for each callback, by module and number. */
static callback *callbacks[16];
static callback **places[16];

static int get_table(int module, callback ****table, unsigned *size)
{
    if (module != 1)
        return 0;
    for (int i = 0; i < 16; i++)
        places[i] = &callbacks[i];
    *table = places;
    *size = 16;
    return 1;
}

static const struct {
    size_t struct_size;
    int (*get_table)(int module, callback ****table, unsigned *size);
} tables = {sizeof tables, get_table};

static const void *export_table(uint32_t table)
{
    return table == 1 ? &tables : NULL;
}

static int inject(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    return initialize && initialize(export_table);
}

static int nvtx_push(const char *name)
{
    return callbacks[9] ? ((int (*)(const char *))(uintptr_t)callbacks[9])(name) : -2;
}

static int nvtx_pop(void)
{
    return callbacks[11] ? ((int (*)(void))(uintptr_t)callbacks[11])() : -2;
}

static void *allocate(size_t mebibytes)
{
    void *block = NULL;
    if (cudaMalloc(&block, mebibytes * MIB) != 0)
        exit(9);
    return block;
}

int main(void)
{
    void *forward, *tools = NULL;
    int (*tools_push)(const char *) = NULL, (*tools_pop)(void) = NULL;
    const int injected = inject();
    printf("injected %d\n", injected);
    printf("push %d\n", nvtx_push("setup"));
    allocate(1);
    printf("pop %d\n", nvtx_pop());

    gpumemtrace_push("step");
    gpumemtrace_push("forward");
    forward = allocate(2);
    gpumemtrace_pop();
    gpumemtrace_push("backward");
    allocate(4);
    cudaFree(forward);
    gpumemtrace_pop();
    gpumemtrace_pop();
    gpumemtrace_step(0);

    *(void **)&tools_push = dlsym(RTLD_DEFAULT, "nvtxRangePushA");
    *(void **)&tools_pop = dlsym(RTLD_DEFAULT, "nvtxRangePop");
    if (tools_push && tools_pop) {
        tools_push("tools");
        tools = allocate(8);
        tools_pop();
    }
    allocate(16);
    cudaFree(tools);
    return 0;
}
