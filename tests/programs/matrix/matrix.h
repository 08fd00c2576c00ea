/* SPDX-License-Identifier: MIT */
/*
 * The matrix: every family of allocations, done by every way to CUDA's functions, each with books
 * of what a trace must say. A family calls through the tables below and does not know how they were
 * filled; a way fills them and does not know what is called.
 *
 *     matrix WAY [FAMILY]      its books as JSON on stdout
 *
 * The same sources make programs linked to a runtime, to none, and a plugin.
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

/* What a family calls; set before each. */
extern const struct driver_api *driver;
extern const struct runtime_api *runtime;
/* The primary context of device 0, for families of the driver. */
extern CUcontext primary;

/* Calls a function of a table. It must exist and succeed, else the family ends with that reason. */
#define DRIVER(symbol, arguments)                                                                  \
    (family_calls(driver->symbol != NULL, #symbol), family_called((int)driver->symbol arguments))
#define RUNTIME(symbol, arguments)                                                                 \
    (family_calls(runtime->symbol != NULL, #symbol), family_called((int)runtime->symbol arguments))
/* The same for a call that must fail with `wanted`. */
#define DRIVER_FAILS(wanted, symbol, arguments)                                                    \
    (family_calls(driver->symbol != NULL, #symbol),                                                \
     family_refused(wanted, (int)driver->symbol arguments))
#define RUNTIME_FAILS(wanted, symbol, arguments)                                                   \
    (family_calls(runtime->symbol != NULL, #symbol),                                               \
     family_refused(wanted, (int)runtime->symbol arguments))

/* For a family that would not leave things as they were without this function. */
#define NEEDS_DRIVER(symbol) family_calls(driver->symbol != NULL, #symbol)

void family_calls(bool reached, const char *symbol);
void family_called(int status);
void family_refused(int wanted, int status);
/* For an event that is booked after further calls: the one it belongs to. */
void family_last_called(const char *symbol);
/* Another API's memory for CUDA to import: a descriptor; ends the family where there is none. */
int family_external_memory(uint64_t bytes);
/* A graphics API's object does not exist on the simulator, and nothing to get one elsewhere. */
void family_needs_simulator(const char *reason);
/* Ends the family where this machine cannot do it. */
void family_needs(bool met, const char *reason);

/* --- books: each names what the last call must have left in the trace --- */

struct books {
    struct account {
        uint64_t live_bytes, peak_bytes, allocations, frees, implicit_frees, failed;
        uint64_t bound_bytes, bound_count; /* of what lives, what goes with its context */
    } accounts[ACCOUNT_COUNT];
    int written; /* families */
};

/* Counts bytes without an event, for what is told by one of another kind. */
void book_take(enum memory_kind memory, uint64_t bytes);
void book_alloc(enum memory_kind memory, uint64_t address, uint64_t bytes);
void book_alloc_of(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t object);
/* A block of a pool is recorded as stream-ordered, and counted as what the pool is made of. */
void book_alloc_in_pool(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t pool);
/* An allocation that failed as the last call did. */
void book_failed(enum memory_kind memory, uint64_t bytes);
/* A free of what was taken as `memory`. */
void book_free(enum memory_kind memory, uint64_t address, uint64_t bytes);
/* The free of a handle whose memory lives on, and the moment when it does end. */
void book_release(uint64_t handle);
void book_end(enum memory_kind memory, uint64_t bytes);
/* What ended with its context. */
void book_implicit(enum memory_kind memory, uint64_t bytes);
/* All that goes with its context, when no other context is left. */
void book_all_implicit(void);
/* An allocation turns out to hold so many bytes more. */
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
    const char *family; /* NULL: every one */
    const struct driver_api *driver;
    const struct runtime_api *runtime;
    CUcontext primary;
};

/* Runs the families of the driver if there is one, then those of the runtime likewise. */
void matrix_run(const struct matrix_job *job);

/* A plugin runs its families itself. NULL, or why not. */
typedef const char *matrix_plugin_run(struct books *books, const char *family, bool with_driver);
/* What a way gave. */
struct opened {
    struct driver_api driver;
    struct runtime_api runtimes[2];
    bool has_driver;
    int runtime_count;
    matrix_plugin_run *plugin;
};

/* NULL, or why not. */
const char *matrix_open(const char *way, struct opened *opened);

/* --- the tables' members: in the order of the lists --- */

struct function_name {
    const char *symbol;
    const char *suffix; /* of the form for per-thread default streams; "": there is none */
    size_t offset;
};
extern const struct function_name driver_names[], runtime_names[];
extern const size_t driver_name_count, runtime_name_count;

/* The functions this program or plugin was linked to; false if it was not. */
bool matrix_linked_driver(struct driver_api *api, bool per_thread);
bool matrix_linked_runtime(struct runtime_api *api, bool per_thread);

#endif
