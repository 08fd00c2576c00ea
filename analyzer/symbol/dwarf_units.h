/* SPDX-License-Identifier: MIT */
/*
 * The compilation units of one ELF file's debug information, sorted by address. libdw 0.188 finds a
 * unit only where the compiler wrote .debug_aranges; clang does not. It must not know symbol
 * tables.
 */
#ifndef GPUMEMTRACE_SYMBOL_DWARF_UNITS_H
#define GPUMEMTRACE_SYMBOL_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct dwarf_range {
    uint64_t start, end;
    uint32_t unit;
};

struct dwarf_units {
    Dwarf_Die *items;
    size_t count, capacity;
    struct dwarf_range *ranges;
    size_t range_count, range_capacity;
};

/* Addresses are those of the debug information, without bias. */
int dwarf_units_load(struct dwarf_units *units, Dwarf *dwarf, struct err *err);
void dwarf_units_release(struct dwarf_units *units);

/* NULL: the address lies in no unit. */
Dwarf_Die *dwarf_units_find(const struct dwarf_units *units, uint64_t address);

/* The unit's functions: with -gsplit-dwarf they stand in another file; *split is room for that. */
Dwarf_Die *dwarf_units_scopes(Dwarf_Die *unit, Dwarf_Die *split);

#endif
