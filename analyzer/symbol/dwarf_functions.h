/* SPDX-License-Identifier: MIT */
/*
 * The functions of one compilation unit, sorted by address. They are read in one pass when the unit
 * is first needed, because searching the unit's tree for each address takes seconds in a large
 * unit.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpumemtrace/err.h"

struct dwarf_function {
    Dwarf_Addr start, end; /* a function may have several ranges */
    Dwarf_Die die;
};

/* A zeroed struct is empty and not loaded. */
struct dwarf_functions {
    struct dwarf_function *items;
    size_t count, capacity;
    bool is_loaded;
};

/* Loads the functions at the first call; later calls do nothing. */
int dwarf_functions_load(struct dwarf_functions *functions, Dwarf_Die *unit, struct err *err);
void dwarf_functions_release(struct dwarf_functions *functions);

/* The function at the address; NULL: none. */
Dwarf_Die *dwarf_functions_find(const struct dwarf_functions *functions, Dwarf_Addr address);
