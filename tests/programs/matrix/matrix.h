/* SPDX-License-Identifier: MIT */
/*
 * The matrix: it runs every family of allocations with every way to find CUDA's functions, and
 * keeps books of the events that the trace must have. A way fills the tables of functions below,
 * and a family calls functions through these tables.
 *
 *     matrix WAY [FAMILY]      its books as JSON on stdout
 *
 * The same sources make a program that is linked to a runtime, one that is not, and a plugin.
 */
#pragma once

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

/* The functions that a family calls. They are set before each family runs. */
extern const struct driver_api *driver;
extern const struct runtime_api *runtime;
/* The primary context of device 0, for families of the driver. */
extern CUcontext primary;

/* Calls a function of a table. If it is missing or fails, the family ends with that reason. */
#define DRIVER(symbol, arguments)                                                                  \
    (family_calls(driver->symbol != NULL, #symbol), family_called((int)driver->symbol arguments))
#define RUNTIME(symbol, arguments)                                                                 \
    (family_calls(runtime->symbol != NULL, #symbol), family_called((int)runtime->symbol arguments))
/* Makes a call that must return the error `wanted`. If it returns another result, the family
   ends. */
#define DRIVER_FAILS(wanted, symbol, arguments)                                                    \
    (family_calls(driver->symbol != NULL, #symbol),                                                \
     family_refused(wanted, (int)driver->symbol arguments))
#define RUNTIME_FAILS(wanted, symbol, arguments)                                                   \
    (family_calls(runtime->symbol != NULL, #symbol),                                               \
     family_refused(wanted, (int)runtime->symbol arguments))

/* Ends the family if the driver lacks this function, without which the family could not clean
   up. */
#define NEEDS_DRIVER(symbol) family_calls(driver->symbol != NULL, #symbol)

void family_calls(bool reached, const char *symbol);
void family_called(int status);
void family_refused(int wanted, int status);
/* Sets the call to which the next booked events belong. Needed if an event is booked only after
   further calls. */
void family_last_called(const char *symbol);
/* Returns a descriptor of another API's memory, which CUDA can import. If there is none, ends
   the family. */
int family_external_memory(uint64_t bytes);
/* Ends the family unless it runs on the simulator. On a real card, the family would need an
   object of another API, which the tests lack. */
void family_needs_simulator(const char *reason);
/* Ends the family if this machine cannot run it. */
void family_needs(bool met, const char *reason);

/* --- books: each names what the last call must have left in the trace --- */

struct books {
    struct account {
        uint64_t live_bytes, peak_bytes, allocations, frees, implicit_frees, failed;
        uint64_t bound_bytes, bound_count; /* live memory that ends with a context */
    } accounts[ACCOUNT_COUNT];
    int written; /* number of families */
};

/* Counts bytes without booking an event, because an event of another kind includes these bytes. */
void book_take(enum memory_kind memory, uint64_t bytes);
void book_alloc(enum memory_kind memory, uint64_t address, uint64_t bytes);
void book_alloc_of(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t object);
/* A block of a pool is recorded as stream-ordered and counted in the account of the pool's
 * memory. */
void book_alloc_in_pool(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t pool);
/* Books an allocation that failed with the result of the last call. */
void book_failed(enum memory_kind memory, uint64_t bytes);
/* Books a free of memory that was booked as `memory`. */
void book_free(enum memory_kind memory, uint64_t address, uint64_t bytes);
/* book_release books the release of a handle whose memory lives on; book_end books the end of
   this memory. */
void book_release(uint64_t handle);
void book_end(enum memory_kind memory, uint64_t bytes);
/* Books memory that ended with its context. */
void book_implicit(enum memory_kind memory, uint64_t bytes);
/* Books the end of all memory that ends with its context. Used when no other context is left. */
void book_all_implicit(void);
/* Books that an existing allocation has grown by `bytes`. */
void book_grow(enum memory_kind memory, uint64_t bytes);
/* Books any other event. A value of UNSAID is not compared with the trace. */
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

/* Runs the families of the driver if the job has a driver, and then the families of the runtime
   if it has a runtime. */
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
    const char *suffix; /* of the form for per-thread default streams; "" if there is none */
    size_t offset;
};
extern const struct function_name driver_names[], runtime_names[];
extern const size_t driver_name_count, runtime_name_count;

/* Stores the functions that this program or plugin is linked to. Returns false if it is not
   linked to them. */
bool matrix_linked_driver(struct driver_api *api, bool per_thread);
bool matrix_linked_runtime(struct runtime_api *api, bool per_thread);
