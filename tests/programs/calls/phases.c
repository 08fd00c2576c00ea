/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Opens phases through the public API, header-only NVTX (nvtx_player.h) and the functions of
 * libnvToolsExt. It opens "setup" through NVTX before its first CUDA call.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"
#include "nvtx_player.h"

#define MIB ((size_t)1 << 20)

static int nvtx_push(const char *name)
{
    return NVTX_CALL(int, (const char *), NVTX_CORE, 9, (name), -2);
}

static int nvtx_pop(void)
{
    return NVTX_CALL(int, (void), NVTX_CORE, 11, (), -2);
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
    const int injected = nvtx_inject();
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
    gpumemtrace_step(7);

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
