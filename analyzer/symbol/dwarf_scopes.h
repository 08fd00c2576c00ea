/* SPDX-License-Identifier: MIT */
/* Functions in debug information: the calls inlined at an address, and their names. */
#pragma once

#include <elfutils/libdw.h>

/*
 * Fills `scopes` with the function, followed by the calls that were inlined into it at the address,
 * from the outermost inwards. Returns their number, which is at most `limit`. If there are more,
 * the innermost ones are left out.
 */
int dwarf_scopes_find(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, int limit);

/* The linker's name of the function, or of the function that was inlined; NULL: it has none. */
const char *dwarf_scope_symbol(Dwarf_Die *scope);

/*
 * The function's name with the namespaces and types around its declaration, such as
 * "model::Layer::forward". The caller frees it. NULL: the function has no name, or memory ran out.
 */
char *dwarf_scope_name(Dwarf_Die *scope);
