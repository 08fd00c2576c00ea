/* SPDX-License-Identifier: MIT */
/*
 * The library's exports, from driver_functions.def: a default body that returns "not supported" for
 * each function that has no other body, and the lookup by name for cuGetProcAddress. This file does
 * not include the API's prototypes. It needs only addresses, so it declares all functions with the
 * same type.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exports.h"
#include "common/sim_fault.h"

#define NOT_SUPPORTED 801

/* Counts the call in a recorded dry run. Defined in libgpumemtrace_dryrun.so. */
__attribute__((weak)) void gpumemtrace_dryrun_count(const char *name);

static int not_modelled(const char *name)
{
    if (gpumemtrace_dryrun_count)
        gpumemtrace_dryrun_count(name);
    return NOT_SUPPORTED;
}

/*
 * Each default body has its own address, because a recorder tells functions apart by address. It is
 * weak, so that a body elsewhere in the library replaces it.
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

/* Identifies this library: programs look up this symbol to find out whether the driver is
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

static bool has_per_thread_form(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].stream == PER_THREAD && strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

/* If per_thread is set and the name has per-thread versions, only those are candidates: driver
 * 580.159 returns "version not sufficient" for cuStreamSynchronize of CUDA 6. */
enum export_result exports_find(const char *name, int version, int per_thread, void **function)
{
    const enum stream_class stream = per_thread && has_per_thread_form(name) ? PER_THREAD : DEFAULT;
    const struct export_row *best = NULL;
    enum export_result result = EXPORT_UNKNOWN;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct export_row *row = &rows[i];
        if (row->stream != stream || strcmp(row->name, name))
            continue;
        result = EXPORT_TOO_NEW;
        if (row->version <= version && (!best || row->version > best->version))
            best = row;
    }
    if (!best)
        return result;
    memcpy(function, &best->function, sizeof best->function);
    return EXPORT_FOUND;
}
