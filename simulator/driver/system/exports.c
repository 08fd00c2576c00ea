/* SPDX-License-Identifier: MIT */
/*
 * The library's exports, from driver_functions.def: a body that returns "not supported" for each
 * function without another body, and the lookup by name for cuGetProcAddress. It must not include
 * the API's prototypes: it declares all functions alike and needs only their addresses.
 */
#include <stdbool.h>
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

static bool has_per_thread_form(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].stream == PER_THREAD && strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

/* A name that has forms for per-thread streams has no others for who asks for these: 580.159 answers
 * "version not sufficient" for cuStreamSynchronize of CUDA 6. */
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
