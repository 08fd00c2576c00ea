/* SPDX-License-Identifier: MIT */
/*
 * Behaves like header-only NVTX 3, whose injection protocol is public: loads the library that
 * NVTX_INJECTION64_PATH names, and offers it a slot for each callback, by module and number.
 */
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define NVTX_CORE 1
#define NVTX_CORE2 5

typedef void nvtx_callback(void);

static nvtx_callback *nvtx_callbacks[6][16];

/* The callback in each slot until a tool replaces it. */
static void nvtx_not_yet(void)
{
    abort();
}

static int nvtx_get_table(int module, nvtx_callback ****table, unsigned *size)
{
    static nvtx_callback **places[6][16];
    if (module != NVTX_CORE && module != NVTX_CORE2)
        return 0;
    for (int i = 0; i < 16; i++)
        places[module][i] = &nvtx_callbacks[module][i];
    *table = places[module];
    *size = 16;
    return 1;
}

static const void *nvtx_export_table(uint32_t table)
{
    static const struct {
        size_t struct_size;
        int (*get_table)(int module, nvtx_callback ****table, unsigned *size);
    } tables = {sizeof tables, nvtx_get_table};
    return table == 1 ? &tables : NULL;
}

static inline int nvtx_inject(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    for (int module = 0; module < 6; module++)
        for (int i = 0; i < 16; i++)
            nvtx_callbacks[module][i] = nvtx_not_yet;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    const int injected = initialize && initialize(nvtx_export_table);
    for (int module = 0; module < 6; module++)
        for (int i = 0; i < 16; i++)
            if (nvtx_callbacks[module][i] == nvtx_not_yet)
                nvtx_callbacks[module][i] = NULL;
    return injected;
}

/* Calls a callback of this type. If there is none, the value is `without`, the value that NVTX
   would return. */
#define NVTX_CALL(type, parameters, module, number, arguments, without)                            \
    (nvtx_callbacks[module][number]                                                                \
         ? ((type(*) parameters)(uintptr_t)nvtx_callbacks[module][number])arguments                \
         : (without))
