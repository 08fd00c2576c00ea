/* SPDX-License-Identifier: MIT */
/*
 * The compilation units of one ELF file's debug information, sorted by address. libdw 0.188 finds a
 * unit by address only if the compiler wrote .debug_aranges, which clang does not.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_functions.h"

struct dwarf_range {
    uint64_t start, end;
    uint32_t unit;
};

struct dwarf_unit {
    Dwarf_Die die;
    struct dwarf_functions functions; /* loaded when first needed */
};

struct dwarf_units {
    struct dwarf_unit *items;
    size_t count, capacity;
    struct dwarf_range *ranges;
    size_t range_count, range_capacity;
};

/* Loads the units. All addresses are the ones in the debug information, without the bias at which
 * the file was loaded. */
int dwarf_units_load(struct dwarf_units *units, Dwarf *dwarf, struct err *err);
void dwarf_units_release(struct dwarf_units *units);

/* The unit at the address; NULL: none. */
struct dwarf_unit *dwarf_units_find(const struct dwarf_units *units, uint64_t address);

/* The unit that contains the functions. If the program was built with -gsplit-dwarf, it is in
 * another file. */
Dwarf_Die dwarf_unit_scopes(const struct dwarf_unit *unit);
