/* SPDX-License-Identifier: MIT */
/*
 * libnvToolsExt. It works as outside a dry run: the first call offers the callbacks to the tool in
 * NVTX_INJECTION64_PATH, and each function calls the tool's function if there is one. So the
 * recorder sees ranges even of programs that find these functions by dlopen and dlsym. Numbers and
 * layouts are those of NVTX 3.
 */
#include "standin.h"

#include <dlfcn.h>
#include <pthread.h>

enum module { CORE = 1, CORE2 = 5, MODULE_COUNT };

#define NUMBERS 16 /* callbacks of a module; 0 is unused */
#define CALLBACK_TABLES 1

/* Functions have at most three parameters, each of which fits a register. */
typedef uintptr_t callback_function(uintptr_t first, uintptr_t second, uintptr_t third);

static callback_function *callbacks[MODULE_COUNT][NUMBERS];

static int get_table(int module, callback_function ****table, unsigned *size)
{
    static callback_function **places[MODULE_COUNT][NUMBERS];
    if (module != CORE && module != CORE2)
        return 0;
    for (int number = 1; number < NUMBERS; number++)
        places[module][number] = &callbacks[module][number];
    *table = places[module];
    *size = NUMBERS;
    return 1;
}

static const void *get_export_table(uint32_t table)
{
    static const struct {
        size_t struct_size;
        int (*get_table)(int module, callback_function ****table, unsigned *size);
    } tables = {sizeof tables, get_table};
    return table == CALLBACK_TABLES ? &tables : NULL;
}

typedef int initialize_function(const void *(*get_export_table)(uint32_t table));

static void offer_callbacks(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
    void *initialize = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    if (initialize)
        GMT_FUNCTION(initialize_function *, initialize)(get_export_table);
}

static uintptr_t call_back(enum module module, int number, uintptr_t first, uintptr_t second,
                           uintptr_t third, uintptr_t none)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, offer_callbacks);
    callback_function *callback = callbacks[module][number];
    return callback ? callback(first, second, third) : none;
}

/* none: the result if no tool listens. */
#define FUNCTION(module, number, name, none)                                                       \
    STANDIN(uintptr_t, name, (uintptr_t first, uintptr_t second, uintptr_t third))                 \
    {                                                                                              \
        return call_back(module, number, first, second, third, (uintptr_t)(none));                 \
    }

#define NO_TRACKING (-2) /* result of a push or pop */

/* clang-format off */
FUNCTION(CORE,   1, nvtxMarkEx,                  0)
FUNCTION(CORE,   2, nvtxMarkA,                   0)
FUNCTION(CORE,   3, nvtxMarkW,                   0)
FUNCTION(CORE,   4, nvtxRangeStartEx,            0)
FUNCTION(CORE,   5, nvtxRangeStartA,             0)
FUNCTION(CORE,   6, nvtxRangeStartW,             0)
FUNCTION(CORE,   7, nvtxRangeEnd,                0)
FUNCTION(CORE,   8, nvtxRangePushEx,             NO_TRACKING)
FUNCTION(CORE,   9, nvtxRangePushA,              NO_TRACKING)
FUNCTION(CORE,  10, nvtxRangePushW,              NO_TRACKING)
FUNCTION(CORE,  11, nvtxRangePop,                NO_TRACKING)
FUNCTION(CORE,  12, nvtxNameCategoryA,           0)
FUNCTION(CORE,  13, nvtxNameCategoryW,           0)
FUNCTION(CORE,  14, nvtxNameOsThreadA,           0)
FUNCTION(CORE,  15, nvtxNameOsThreadW,           0)
FUNCTION(CORE2,  1, nvtxDomainMarkEx,            0)
FUNCTION(CORE2,  2, nvtxDomainRangeStartEx,      0)
FUNCTION(CORE2,  3, nvtxDomainRangeEnd,          0)
FUNCTION(CORE2,  4, nvtxDomainRangePushEx,       NO_TRACKING)
FUNCTION(CORE2,  5, nvtxDomainRangePop,          NO_TRACKING)
FUNCTION(CORE2,  6, nvtxDomainResourceCreate,    0)
FUNCTION(CORE2,  7, nvtxDomainResourceDestroy,   0)
FUNCTION(CORE2,  8, nvtxDomainNameCategoryA,     0)
FUNCTION(CORE2,  9, nvtxDomainNameCategoryW,     0)
FUNCTION(CORE2, 10, nvtxDomainRegisterStringA,   0)
FUNCTION(CORE2, 11, nvtxDomainRegisterStringW,   0)
FUNCTION(CORE2, 12, nvtxDomainCreateA,           0)
FUNCTION(CORE2, 13, nvtxDomainCreateW,           0)
FUNCTION(CORE2, 14, nvtxDomainDestroy,           0)
FUNCTION(CORE2, 15, nvtxInitialize,              0)
/* clang-format on */
