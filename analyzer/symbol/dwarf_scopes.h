/* SPDX-License-Identifier: MIT */
/*
 * Functions in debug information: what is inlined at an address, and what they are called. It must
 * not know symbol tables or files.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_SCOPES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_DWARF_SCOPES_H

#include <elfutils/libdw.h>

/*
 * The function, and the calls inlined into it that hold the address, outermost first. Fills at most
 * limit and returns how many; where they are more, the innermost are left out.
 */
int dwarf_scopes_find(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, int limit);

/* The linker's name of the function, or of the one it is an inlined copy of; NULL: none. */
const char *dwarf_scope_symbol(Dwarf_Die *scope);

/*
 * "model::Layer::forward", from the namespaces and types around the declaration. The caller frees
 * it. NULL: the function has no name, or out of memory.
 */
char *dwarf_scope_name(Dwarf_Die *scope);

#endif
