/* SPDX-License-Identifier: MIT */
/*
 * The library's exports, from driver_functions.def: a body that returns "not supported" for each
 * function without another body, and the lookup by name for cuGetProcAddress. It must not include
 * the API's prototypes: it declares all functions alike and needs only their addresses.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exports.h"
#include "common/sim_fault.h"

#define NOT_SUPPORTED 801

/* Counts the call where a dry run is recorded: libgpumemtrace_dryrun.so has this. */
__attribute__((weak)) void gpumemtrace_dryrun_count(const char *name);

static int not_modelled(const char *name)
{
    if (gpumemtrace_dryrun_count)
        gpumemtrace_dryrun_count(name);
    return NOT_SUPPORTED;
}

/*
 * Each default body has its own address, because a recorder tells functions apart by address, and
 * is weak, so that a body elsewhere in the library replaces it.
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
        return result ? result : not_modelled(#symbol);                                            \
    }
#include "gpumemtrace/cuda/driver_functions.def"

/* Identifies this library: a program looks up this symbol to tell whether the driver is
 * simulated. */
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

/* The better of two versions that are not too new: one for per-thread streams first, then the
 * newer. */
static const struct export_row *better_row(const struct export_row *a, const struct export_row *b)
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
            best = better_row(best, row);
    }
    if (!best)
        return result;
    memcpy(function, &best->function, sizeof best->function);
    return EXPORT_FOUND;
}
