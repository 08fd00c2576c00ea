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
 * limit and returns how many; the innermost are left out.
 */
int dwarf_scopes_find(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, int limit);

/* The name that the linker knows, of the function or what it is a copy of; NULL: none is written.
 */
const char *dwarf_scope_symbol(Dwarf_Die *scope);

/* "model::Layer::forward", put together from what stands around its declaration. The caller frees
 * it; NULL: it has no name, or no memory. */
char *dwarf_scope_name(Dwarf_Die *scope);

#endif
