/* SPDX-License-Identifier: MIT */
/*
 * Returns the functions that the linker bound. The references are weak, so that a program also runs
 * with an older driver or runtime, and finds NULL for a function that is missing there. (A static
 * runtime must be linked as a whole, because weak references load no members of an archive.)
 */
#include "matrix.h"

#include <string.h>

#define WEAK_(symbol) _Pragma(#symbol)
#define WEAK(symbol) WEAK_(weak symbol)

#define PROTOTYPE(symbol, parameters) WEAK(symbol)
#define PROTOTYPE_PTSZ(symbol, parameters) WEAK(symbol) WEAK(symbol##_ptsz)
#define PROTOTYPE_PTDS(symbol, parameters) WEAK(symbol) WEAK(symbol##_ptds)
#define PROTOTYPE_OLD(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/driver_prototypes.def"
#define PROTOTYPE_RETURNING(type, symbol, parameters) WEAK(symbol)
#define PROTOTYPE(symbol, parameters) WEAK(symbol)
#define PROTOTYPE_PTSZ(symbol, parameters) WEAK(symbol) WEAK(symbol##_ptsz)
#define PROTOTYPE_PTDS(symbol, parameters) WEAK(symbol) WEAK(symbol##_ptds)
#include "gpumemtrace/cuda/runtime_prototypes.def"

#define ADDRESS(symbol) __extension__(void *) symbol

static void *const driver_functions[] = {
#define PROTOTYPE(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTSZ(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTDS(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_OLD(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/driver_prototypes.def"
};

static void *const driver_functions_per_thread[] = {
#define PROTOTYPE(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTSZ(symbol, parameters) ADDRESS(symbol##_ptsz),
#define PROTOTYPE_PTDS(symbol, parameters) ADDRESS(symbol##_ptds),
#define PROTOTYPE_OLD(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/driver_prototypes.def"
};

static void *const runtime_functions[] = {
#define PROTOTYPE_RETURNING(type, symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTSZ(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTDS(symbol, parameters) ADDRESS(symbol),
#include "gpumemtrace/cuda/runtime_prototypes.def"
};

static void *const runtime_functions_per_thread[] = {
#define PROTOTYPE_RETURNING(type, symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE(symbol, parameters) ADDRESS(symbol),
#define PROTOTYPE_PTSZ(symbol, parameters) ADDRESS(symbol##_ptsz),
#define PROTOTYPE_PTDS(symbol, parameters) ADDRESS(symbol##_ptds),
#include "gpumemtrace/cuda/runtime_prototypes.def"
};

static void copy(void *api, const struct function_name *names, void *const *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy((char *)api + names[i].offset, &functions[i], sizeof functions[i]);
}

bool matrix_linked_driver(struct driver_api *api, bool per_thread)
{
    copy(api, driver_names, per_thread ? driver_functions_per_thread : driver_functions,
         driver_name_count);
    api->per_thread = per_thread;
    return true;
}

bool matrix_linked_runtime(struct runtime_api *api, bool per_thread)
{
    copy(api, runtime_names, per_thread ? runtime_functions_per_thread : runtime_functions,
         runtime_name_count);
    api->per_thread = per_thread;
    return true;
}
