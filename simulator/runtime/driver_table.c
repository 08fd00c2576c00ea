/* SPDX-License-Identifier: MIT */
/*
 * Finds the driver in the same way as NVIDIA's runtime: by dlopen, one dlsym, and a lookup by name,
 * version and stream form for each function. All these steps are needed, because a tool that
 * replaces the result of dlsym must see all calls.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "driver_table.h"

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

/* The cuGetProcAddress arguments for a symbol. */
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

/* State of the search. SEARCH_FAILED and SEARCH_DONE are final. */
enum search { SEARCH_NEW, SEARCH_FAILED, SEARCH_DONE };

typedef CUresult get_function(const char *name, void **function, int version, cuuint64_t flags,
                              CUdriverProcAddressQueryResult *status);

/* Acquire and release: a thread that reads SEARCH_DONE also sees the table. */
static _Atomic int state = SEARCH_NEW;
/* Protects the table until the search is done. It is not held during dlopen or dlsym, because a
 * thread in a library's constructor holds the loader's lock and may call the runtime. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct driver_table table;

static const struct lookup *lookup_of(const struct slot *slot)
{
    for (size_t i = 0; i < LOOKUP_COUNT; i++)
        if (lookups[i].symbol_bytes == slot->symbol_bytes &&
            memcmp(lookups[i].symbol, slot->symbol, slot->symbol_bytes) == 0)
            return &lookups[i];
    return NULL;
}

static void slot_fill(struct driver_table *target, const struct slot *slot, get_function *get)
{
    const struct lookup *lookup = lookup_of(slot);
    CUdriverProcAddressQueryResult status;
    void *function = NULL;
    void (*missing)(void) = driver_function_missing;
    char *member = (char *)target + slot->offset;

    if (lookup && get(lookup->name, &function, lookup->version, lookup->flags, &status))
        function = NULL;
    if (function)
        memcpy(member, &function, sizeof function);
    else
        memcpy(member, &missing, sizeof missing);
}

static enum search driver_find(struct driver_table *target)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (!symbol)
        return SEARCH_FAILED;
    for (size_t i = 0; i < SLOT_COUNT; i++)
        slot_fill(target, &slots[i], GMT_FUNCTION(get_function *, symbol));
    return SEARCH_DONE;
}

/* Threads may search at the same time; the first to finish stores its result. */
static void driver_search(void)
{
    struct driver_table own;
    const enum search result = driver_find(&own);
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) == SEARCH_NEW) {
        if (result == SEARCH_DONE)
            table = own;
        atomic_store_explicit(&state, result, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

const struct driver_table *driver_table(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == SEARCH_NEW)
        driver_search();
    return atomic_load_explicit(&state, memory_order_acquire) == SEARCH_DONE ? &table : NULL;
}
