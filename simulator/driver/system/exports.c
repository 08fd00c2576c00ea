/* SPDX-License-Identifier: MIT */
/*
 * What the library exports, from driver_functions.def: a body that answers "not supported" for each
 * function that has none elsewhere, and cuGetProcAddress over the whole list. It must not include
 * the API's prototypes: here every function is declared alike, for its address.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exports.h"
#include "common/sim_fault.h"

#define NOT_SUPPORTED 801

/*
 * Each has an address of its own, because a recorder tells functions apart by it, and is weak, so
 * that a body elsewhere in the library takes its place.
 */
#define WEAK_(symbol) _Pragma(#symbol)
#define WEAK(symbol) WEAK_(weak symbol)

#pragma GCC visibility push(protected)
#define DRIVER_FUNCTION(name, version, stream, symbol)                                             \
    WEAK(symbol)                                                                                   \
    int symbol(void);                                                                              \
    int symbol(void)                                                                               \
    {                                                                                              \
        const int result = fault_of(#symbol);                                                      \
        return result ? result : NOT_SUPPORTED;                                                    \
    }
#include "gpumemtrace/cuda/driver_functions.def"

/* Who wants to know whether a driver is this one looks for this symbol. */
const char *gpumemtrace_simulator(void);
const char *gpumemtrace_simulator(void)
{
    return "gpumemtrace simulator";
}
#pragma GCC visibility pop

enum stream_class { DEFAULT, PER_THREAD };

struct export_row {
    const char *name;
    int version;
    enum stream_class stream;
    int (*function)(void);
};

static const struct export_row rows[] = {
#define DRIVER_FUNCTION(name, version, stream, symbol) {#name, version, stream, symbol},
#include "gpumemtrace/cuda/driver_functions.def"
};

/* The newest form that is no newer than asked for; one for per-thread streams goes first. */
static const struct export_row *better(const struct export_row *a, const struct export_row *b)
{
    if (!a)
        return b;
    if (a->stream != b->stream)
        return a->stream == PER_THREAD ? a : b;
    return a->version > b->version ? a : b;
}

enum export_result exports_find(const char *name, int version, int per_thread, void **function)
{
    const struct export_row *best = NULL;
    enum export_result result = EXPORT_UNKNOWN;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct export_row *row = &rows[i];
        if (strcmp(row->name, name) || (row->stream == PER_THREAD && !per_thread))
            continue;
        result = EXPORT_TOO_NEW;
        if (row->version <= version)
            best = better(best, row);
    }
    if (!best)
        return result;
    memcpy(function, &best->function, sizeof best->function);
    return EXPORT_FOUND;
}
