/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Opens libnvToolsExt itself and finds its functions by dlsym, as CuPy and older frameworks do.
 * Prints what each call returned.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "nvtx_attributes.h"

#define MIB ((size_t)1 << 20)

static void *library;

static void *find(const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(8);
    }
    return function;
}

#define CALL(type, name, parameters) GMT_FUNCTION(type(*) parameters, find(name))

static void allocate(size_t mebibytes)
{
    void *block = NULL;
    if (cudaMalloc(&block, mebibytes * MIB) != 0)
        exit(9);
}

int main(void)
{
    library = dlopen("libnvToolsExt.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 7;
    }
    printf("push %d\n", CALL(int, "nvtxRangePushA", (const char *))("outer"));
    allocate(1);
    void *domain = CALL(void *, "nvtxDomainCreateA", (const char *))("mine");
    void *text = CALL(void *, "nvtxDomainRegisterStringA", (void *, const char *))(domain, "inner");
    const struct attributes attributes = {
        .version = 3, .size = sizeof attributes, .message_type = 3, .message = text};
    printf("push %d\n", CALL(int, "nvtxDomainRangePushEx",
                             (void *, const struct attributes *))(domain, &attributes));
    allocate(2);
    printf("pop %d\n", CALL(int, "nvtxDomainRangePop", (void *))(domain));
    printf("pop %d\n", CALL(int, "nvtxRangePop", (void))());
    const uint64_t range = CALL(uint64_t, "nvtxRangeStartA", (const char *))("range");
    allocate(4);
    CALL(void, "nvtxRangeEnd", (uint64_t))(range);
    allocate(8);
    return 0;
}
