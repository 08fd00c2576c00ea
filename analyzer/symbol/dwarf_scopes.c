/* SPDX-License-Identifier: MIT */
/* Functions by address, and their names; see dwarf_scopes.h. */
#include "dwarf_scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/text.h"

enum { NAME_MAX_BYTES = 4096, NESTING_MAX = 64 };

/* --- by address --- */

/* Finds the child that contains the address: a block or an inlined call. */
static bool find_child(Dwarf_Die *scope, Dwarf_Addr address, Dwarf_Die *child)
{
    int status = dwarf_child(scope, child);
    for (; status == 0; status = dwarf_siblingof(child, child))
        if (dwarf_tag(child) != DW_TAG_subprogram && dwarf_haspc(child, address) > 0)
            return true;
    return false;
}

int dwarf_scopes_find(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, int limit)
{
    Dwarf_Die scope = *function, child;
    int count = 1;
    scopes[0] = scope;
    while (count < limit && find_child(&scope, address, &child)) {
        scope = child;
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            scopes[count++] = scope;
    }
    return count;
}

/* --- names --- */

const char *dwarf_scope_symbol(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));
}

/* The declaration of the function, or of the function that was inlined. */
static Dwarf_Die declaration_of(const Dwarf_Die *scope)
{
    static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Die found = *scope;
    for (size_t i = 0; i < 2; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die die;
        if (dwarf_formref_die(dwarf_attr(&found, references[i], &attribute), &die))
            found = die;
    }
    return found;
}

/* True for a DIE without addresses that may contain functions. */
static bool is_namespace(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static char *scope_name(Dwarf_Die *scope, int nesting);

/* Moves *die to its last child that starts at or before the offset. */
static bool descend_to(Dwarf_Die *die, Dwarf_Off offset)
{
    Dwarf_Die child, last;
    bool found = false;
    int status = dwarf_child(die, &child);
    for (; status == 0 && dwarf_dieoffset(&child) <= offset;
         status = dwarf_siblingof(&child, &child)) {
        last = child;
        found = true;
    }
    if (found)
        *die = last;
    return found;
}

/* Uses the outer function's full name, because it may be defined apart from its declaration. */
static void add_outer_function(struct text *text, Dwarf_Die *die, int nesting)
{
    char *name = nesting < NESTING_MAX ? scope_name(die, nesting + 1) : NULL;
    if (!name)
        return;
    text_clear(text);
    text_addf(text, "%s()::", name);
    free(name);
}

static void add_outer(struct text *text, Dwarf_Die *die, const char *own, int nesting)
{
    int tag = dwarf_tag(die);
    const char *name = dwarf_diename(die);
    if (tag == DW_TAG_subprogram)
        add_outer_function(text, die, nesting);
    else if (tag == DW_TAG_namespace)
        text_addf(text, "%s::", name ? name : "(anonymous namespace)");
    else if (is_namespace(tag) && !name)
        text_add(text, !strcmp(own, "operator()") ? "{lambda}::" : "{unnamed}::");
    else if (is_namespace(tag))
        text_addf(text, "%s::", name);
}

static char *scope_name(Dwarf_Die *scope, int nesting)
{
    Dwarf_Die declaration = declaration_of(scope), die;
    Dwarf_Off offset = dwarf_dieoffset(&declaration);
    const char *own = dwarf_diename(scope);
    struct text text;
    char *name = NULL;
    if (!own || !dwarf_diecu(&declaration, &die, NULL, NULL))
        return NULL;
    text_init(&text, NAME_MAX_BYTES);
    while (dwarf_dieoffset(&die) < offset && descend_to(&die, offset))
        if (dwarf_dieoffset(&die) < offset)
            add_outer(&text, &die, own, nesting);
    text_add(&text, own);
    if (!text_failed(&text))
        name = strdup(text.data);
    text_release(&text);
    return name;
}

/*
 * True for C. A function in C has no outer scope, so a search for one would read much of the unit
 * in vain.
 */
static bool is_c(Dwarf_Die *scope)
{
    Dwarf_Die unit;
    switch (dwarf_diecu(scope, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return true;
    default:
        return false;
    }
}

char *dwarf_scope_name(Dwarf_Die *scope)
{
    const char *name = dwarf_diename(scope);
    if (name && is_c(scope))
        return strdup(name);
    return scope_name(scope, 0);
}
