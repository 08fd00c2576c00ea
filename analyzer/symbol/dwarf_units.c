/* SPDX-License-Identifier: MIT */
/* Compilation units by address; see dwarf_units.h. */
#include "dwarf_units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

static int add_range(struct dwarf_units *units, uint64_t start, uint64_t end, struct err *err)
{
    /* The linker leaves functions that it dropped at address 0. */
    if (start == 0 || start >= end)
        return 0;
    if (ARRAY_GROW(units->ranges, units->range_capacity, units->range_count, err))
        return -1;
    units->ranges[units->range_count++] = (struct dwarf_range){start, end, (uint32_t)units->count};
    return 0;
}

static int add_unit(struct dwarf_units *units, Dwarf_Die *unit, struct err *err)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    if (ARRAY_GROW(units->items, units->capacity, units->count, err))
        return -1;
    units->items[units->count] = (struct dwarf_unit){.die = *unit};
    while ((offset = dwarf_ranges(unit, offset, &base, &start, &end)) > 0)
        if (add_range(units, start, end, err))
            return -1;
    units->count++;
    return 0;
}

ORDER_BY(compare_ranges, struct dwarf_range, RISING(start));

int dwarf_units_load(struct dwarf_units *units, Dwarf *dwarf, struct err *err)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    *units = (struct dwarf_units){0};
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if ((type == DW_UT_compile || type == DW_UT_skeleton) && add_unit(units, &die, err)) {
            dwarf_units_release(units);
            return -1;
        }
    SORT(units->ranges, units->range_count, compare_ranges);
    return 0;
}

void dwarf_units_release(struct dwarf_units *units)
{
    for (size_t i = 0; i < units->count; i++)
        dwarf_functions_release(&units->items[i].functions);
    free(units->items);
    free(units->ranges);
    *units = (struct dwarf_units){0};
}

struct dwarf_unit *dwarf_units_find(const struct dwarf_units *units, uint64_t address)
{
    const size_t low =
        SORTED_UP_TO(struct dwarf_range, start, units->ranges, units->range_count, address);
    if (low == 0 || address >= units->ranges[low - 1].end)
        return NULL;
    return &units->items[units->ranges[low - 1].unit];
}

Dwarf_Die dwarf_unit_scopes(const struct dwarf_unit *unit)
{
    Dwarf_Die split;
    uint8_t type;
    if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr)
        return split;
    return unit->die;
}
