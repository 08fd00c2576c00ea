/* SPDX-License-Identifier: MIT */
/* Lists the names of the functions in a table of functions, and the place of each function in
   the table. */
#include "matrix.h"

const struct function_name driver_names[] = {
#define PROTOTYPE(symbol, parameters) {#symbol, "", offsetof(struct driver_api, symbol)},
#define PROTOTYPE_PTSZ(symbol, parameters) {#symbol, "_ptsz", offsetof(struct driver_api, symbol)},
#define PROTOTYPE_PTDS(symbol, parameters) {#symbol, "_ptds", offsetof(struct driver_api, symbol)},
#define PROTOTYPE_OLD(symbol, parameters) PROTOTYPE(symbol, parameters)
#include "gpumemtrace/cuda/driver_prototypes.def"
};
const size_t driver_name_count = sizeof driver_names / sizeof *driver_names;

const struct function_name runtime_names[] = {
#define PROTOTYPE_RETURNING(type, symbol, parameters) PROTOTYPE(symbol, parameters)
#define PROTOTYPE(symbol, parameters) {#symbol, "", offsetof(struct runtime_api, symbol)},
#define PROTOTYPE_PTSZ(symbol, parameters) {#symbol, "_ptsz", offsetof(struct runtime_api, symbol)},
#define PROTOTYPE_PTDS(symbol, parameters) {#symbol, "_ptds", offsetof(struct runtime_api, symbol)},
#include "gpumemtrace/cuda/runtime_prototypes.def"
};
const size_t runtime_name_count = sizeof runtime_names / sizeof *runtime_names;
