/* SPDX-License-Identifier: MIT */
/*
 * The matrix: every family of allocations, with every way to find CUDA's functions, and books of
 * the events that the trace must have. A way fills the tables below; a family calls functions
 * through them.
 *
 *     matrix WAY [FAMILY]      its books as JSON on stdout
 *
 * The same sources make a program that is linked to a runtime, one that is not, and a plugin.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_MATRIX_MATRIX_H
#define GPUMEMTRACE_TESTS_PROGRAMS_MATRIX_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/event.h"

/* Handles and host addresses are pointers in C and numbers in a trace. */
static inline uint64_t bits(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* --- functions by symbol; per_thread: the forms for per-thread default streams --- */

struct driver_api {
#define PROTOTYPE(symbol, parameters) CUresult(*symbol) parameters;
#define PROTOTYPE_PTSZ(symbol, parameters) PROTOTYPE(symbol, parameters)
#define PROTOTYPE_PTDS(symbol, parameters) PROTOTYPE(symbol, parameters)
#define PROTOTYPE_OLD(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/driver_prototypes.def"
    bool per_thread;
};

struct runtime_api {
#define PROTOTYPE_RETURNING(type, symbol, parameters) type(*symbol) parameters;
#define PROTOTYPE(symbol, parameters) cudaError_t(*symbol) parameters;
#define PROTOTYPE_PTSZ(symbol, parameters) PROTOTYPE(symbol, parameters)
#define PROTOTYPE_PTDS(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/runtime_prototypes.def"
    bool per_thread;
    int version; /* 12 or 13 */
};

/* The functions that a family calls; set before each. */
extern const struct driver_api *driver;
extern const struct runtime_api *runtime;
/* The primary context of device 0, for families of the driver. */
extern CUcontext primary;

/* Calls a function of a table. If it is missing or fails, the family ends with that reason. */
#define DRIVER(symbol, arguments)                                                                  \
    (family_calls(driver->symbol != NULL, #symbol), family_called((int)driver->symbol arguments))
#define RUNTIME(symbol, arguments)                                                                 \
    (family_calls(runtime->symbol != NULL, #symbol), family_called((int)runtime->symbol arguments))
/* The same for a call that must return the error `wanted`. */
#define DRIVER_FAILS(wanted, symbol, arguments)                                                    \
    (family_calls(driver->symbol != NULL, #symbol),                                                \
     family_refused(wanted, (int)driver->symbol arguments))
#define RUNTIME_FAILS(wanted, symbol, arguments)                                                   \
    (family_calls(runtime->symbol != NULL, #symbol),                                               \
     family_refused(wanted, (int)runtime->symbol arguments))

/* For a family that could not clean up without this function. */
#define NEEDS_DRIVER(symbol) family_calls(driver->symbol != NULL, #symbol)

void family_calls(bool reached, const char *symbol);
void family_called(int status);
void family_refused(int wanted, int status);
/* For an event that is booked after further calls: sets the call that it belongs to. */
void family_last_called(const char *symbol);
/* A descriptor of another API's memory for CUDA to import; without one, ends the family. */
int family_external_memory(uint64_t bytes);
/* Ends the family, except on the simulator: a graphics API's object is missing elsewhere. */
void family_needs_simulator(const char *reason);
/* Ends the family if this machine cannot run it. */
void family_needs(bool met, const char *reason);

/* --- books: each names what the last call must have left in the trace --- */

struct books {
    struct account {
        uint64_t live_bytes, peak_bytes, allocations, frees, implicit_frees, failed;
        uint64_t bound_bytes, bound_count; /* live and ending with a context */
    } accounts[ACCOUNT_COUNT];
    int written; /* number of families */
};

/* Counts bytes without an event, if an event of another kind has them. */
void book_take(enum memory_kind memory, uint64_t bytes);
void book_alloc(enum memory_kind memory, uint64_t address, uint64_t bytes);
void book_alloc_of(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t object);
/* A block of a pool is recorded as stream-ordered and counted in the account of the pool's
 * memory. */
void book_alloc_in_pool(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t pool);
/* An allocation that failed with the last call's result. */
void book_failed(enum memory_kind memory, uint64_t bytes);
/* A free of memory that was booked as `memory`. */
void book_free(enum memory_kind memory, uint64_t address, uint64_t bytes);
/* The release of a handle whose memory lives on; then the end of that memory. */
void book_release(uint64_t handle);
void book_end(enum memory_kind memory, uint64_t bytes);
/* Memory that ended with its context. */
void book_implicit(enum memory_kind memory, uint64_t bytes);
/* All memory that ends with its context, when no other context is left. */
void book_all_implicit(void);
/* An allocation has this many more bytes. */
void book_grow(enum memory_kind memory, uint64_t bytes);
/* Any other event; UNSAID: not compared. */
#define UNSAID UINT64_MAX
void book_event(enum event_kind kind, enum memory_kind memory, uint64_t address, uint64_t bytes,
                uint64_t object);

/* --- families and ways --- */

#define FAMILY(api, name, forms, text) void api##_##name(void);
#include "families.def"

struct matrix_job {
    struct books *books;
    const char *family; /* NULL: all */
    const struct driver_api *driver;
    const struct runtime_api *runtime;
    CUcontext primary;
};

/* Runs the families of the driver if the job has one, then those of the runtime in the same way. */
void matrix_run(const struct matrix_job *job);

/* A plugin runs its families itself. Returns NULL, or the reason of a failure. */
typedef const char *matrix_plugin_run(struct books *books, const char *family, bool with_driver);
/* The result of a way. */
struct opened {
    struct driver_api driver;
    struct runtime_api runtimes[2];
    bool has_driver;
    int runtime_count;
    matrix_plugin_run *plugin;
};

/* Returns NULL, or the reason of a failure. */
const char *matrix_open(const char *way, struct opened *opened);

/* --- the tables' members: in the order of the lists --- */

struct function_name {
    const char *symbol;
    const char *suffix; /* of the form for per-thread default streams; "": none */
    size_t offset;
};
extern const struct function_name driver_names[], runtime_names[];
extern const size_t driver_name_count, runtime_name_count;

/* The functions that this program or plugin is linked to; false: it is not linked. */
bool matrix_linked_driver(struct driver_api *api, bool per_thread);
bool matrix_linked_runtime(struct runtime_api *api, bool per_thread);

#endif
