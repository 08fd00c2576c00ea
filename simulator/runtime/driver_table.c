/* SPDX-License-Identifier: MIT */
/*
 * Finds the driver the way NVIDIA's runtime does: dlopen, one dlsym, then a lookup by name, version
 * and stream form for each function. A tool that wraps what dlsym returns must see all calls, so
 * nothing here may take a shorter way.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "runtime/driver_table.h"

struct slot {
    const char *symbol;
    size_t symbol_bytes, offset;
};

static const struct slot slots[] = {
#define SLOT(symbol, member) {symbol, sizeof symbol, offsetof(struct driver_table, member)},
#define PROTOTYPE(symbol, parameters) SLOT(#symbol, symbol)
#define PROTOTYPE_OLD(symbol, parameters)
#define PROTOTYPE_PTSZ(symbol, parameters)                                                         \
    SLOT(#symbol, symbol[LEGACY]) SLOT(#symbol "_ptsz", symbol[PER_THREAD])
#define PROTOTYPE_PTDS(symbol, parameters)                                                         \
    SLOT(#symbol, symbol[LEGACY]) SLOT(#symbol "_ptds", symbol[PER_THREAD])
#include "gpumemtrace/cuda/driver_prototypes.def"
#undef SLOT
};

enum { SLOT_COUNT = sizeof slots / sizeof *slots };

/* How cuGetProcAddress is asked for a symbol. */
struct lookup {
    const char *name;
    int version;
    CUdriverProcAddress_flags flags;
    const char *symbol;
    size_t symbol_bytes;
};

static const struct lookup lookups[] = {
#define FLAGS_OF_DEFAULT CU_GET_PROC_ADDRESS_DEFAULT
#define FLAGS_OF_PER_THREAD CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define DRIVER_FUNCTION(name, version, stream, symbol)                                             \
    {#name, version, FLAGS_OF_##stream, #symbol, sizeof #symbol},
#include "gpumemtrace/cuda/driver_functions.def"
#undef FLAGS_OF_DEFAULT
#undef FLAGS_OF_PER_THREAD
};

enum { LOOKUP_COUNT = sizeof lookups / sizeof *lookups };

typedef CUresult get_function(const char *name, void **function, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver_table table; /* written under `once` only */
static bool found;

static const struct lookup *lookup_of(const struct slot *slot)
{
    for (size_t i = 0; i < LOOKUP_COUNT; i++)
        if (lookups[i].symbol_bytes == slot->symbol_bytes &&
            memcmp(lookups[i].symbol, slot->symbol, slot->symbol_bytes) == 0)
            return &lookups[i];
    return NULL;
}

static void fill(const struct slot *slot, get_function *get)
{
    const struct lookup *lookup = lookup_of(slot);
    CUdriverProcAddressQueryResult status;
    void *function = NULL;
    void (*missing)(void) = driver_function_missing;
    char *member = (char *)&table + slot->offset;

    if (lookup && get(lookup->name, &function, lookup->version, lookup->flags, &status))
        function = NULL;
    if (function)
        memcpy(member, &function, sizeof function);
    else
        memcpy(member, &missing, sizeof missing);
}

static void find(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;

    if (!symbol)
        return;
    for (size_t i = 0; i < SLOT_COUNT; i++)
        fill(&slots[i], GMT_FUNCTION(get_function *, symbol));
    found = true;
}

const struct driver_table *driver_table(void)
{
    pthread_once(&once, find);
    return found ? &table : NULL;
}
