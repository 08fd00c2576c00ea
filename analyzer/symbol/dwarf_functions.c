/* SPDX-License-Identifier: MIT */
/* Functions by address; see dwarf_functions.h. */
#include "dwarf_functions.h"

#include <dwarf.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

enum { NESTING_MAX = 256 };

static int add_function(struct dwarf_functions *functions, Dwarf_Die *die, struct err *err)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
        if (ARRAY_GROW(functions->items, functions->capacity, functions->count, err))
            return -1;
        functions->items[functions->count++] = (struct dwarf_function){start, end, *die};
    }
    return 0;
}

/* Adds the functions below `parent`. Functions lie in namespaces and types; methods of local
 * classes lie in functions. */
static int add_functions_below(struct dwarf_functions *functions, Dwarf_Die *parent, int nesting,
                               struct err *err)
{
    Dwarf_Die die;
    int status = nesting < NESTING_MAX ? dwarf_child(parent, &die) : 1;
    for (; status == 0; status = dwarf_siblingof(&die, &die)) {
        if (dwarf_tag(&die) == DW_TAG_subprogram && add_function(functions, &die, err))
            return -1;
        if (dwarf_haschildren(&die) > 0 && add_functions_below(functions, &die, nesting + 1, err))
            return -1;
    }
    return 0;
}

ORDER_BY(compare_functions, struct dwarf_function, RISING(start));

int dwarf_functions_load(struct dwarf_functions *functions, Dwarf_Die *unit, struct err *err)
{
    if (functions->is_loaded)
        return 0;
    functions->is_loaded = true;
    if (add_functions_below(functions, unit, 0, err))
        return -1;
    SORT(functions->items, functions->count, compare_functions);
    return 0;
}

void dwarf_functions_release(struct dwarf_functions *functions)
{
    free(functions->items);
    *functions = (struct dwarf_functions){0};
}

Dwarf_Die *dwarf_functions_find(const struct dwarf_functions *functions, Dwarf_Addr address)
{
    const size_t low =
        SORTED_UP_TO(struct dwarf_function, start, functions->items, functions->count, address);
    if (low == 0 || address >= functions->items[low - 1].end)
        return NULL;
    return &functions->items[low - 1].die;
}
