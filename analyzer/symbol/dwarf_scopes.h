/* SPDX-License-Identifier: MIT */
/* Functions in debug information: the calls inlined at an address, and their names. */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_SCOPES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_SCOPES_H

#include <elfutils/libdw.h>

/*
 * Finds the function, and the calls inlined into it at the address, outermost first. Returns their
 * number, at most limit; beyond it, the innermost are left out.
 */
int dwarf_scopes_find(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, int limit);

/* The linker's name of the function, or of the function that was inlined; NULL: none. */
const char *dwarf_scope_symbol(Dwarf_Die *scope);

/*
 * "model::Layer::forward", with the namespaces and types around the declaration. The caller frees
 * it. NULL: the function has no name, or out of memory.
 */
char *dwarf_scope_name(Dwarf_Die *scope);

#endif
