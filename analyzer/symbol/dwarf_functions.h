/* SPDX-License-Identifier: MIT */
/*
 * The functions of one compilation unit, sorted by address and read in one pass when the unit is
 * first needed: to search its tree for every address takes seconds in a large unit. It must not
 * know what is inlined into them.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_FUNCTIONS_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/err.h"

struct dwarf_function {
    Dwarf_Addr start, end; /* a function may have several such ranges */
    Dwarf_Die die;
};

/* Zeroed is empty and not loaded. */
struct dwarf_functions {
    struct dwarf_function *items;
    size_t count, capacity;
    bool is_loaded;
};

/* Loads once; later calls do nothing. */
int dwarf_functions_load(struct dwarf_functions *functions, Dwarf_Die *unit, struct err *err);
void dwarf_functions_release(struct dwarf_functions *functions);

/* NULL: the address lies in no function. */
Dwarf_Die *dwarf_functions_find(const struct dwarf_functions *functions, Dwarf_Addr address);

#endif
