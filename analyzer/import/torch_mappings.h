/* SPDX-License-Identifier: MIT */
/*
 * The mapped addresses of expandable segments. A history may unmap a part of a mapping, but a
 * driver's object is mapped and unmapped as a whole. So a mapping that is unmapped in parts must be
 * written as several mappings: its cuts say where.
 *
 *     put    ├────────── origin 7 ──────────┤
 *     clear            ├──────┤                     cuts of origin 7: two
 */
#pragma once

#include "analyzer/util/range_map.h"

struct torch_cut {
    uint64_t address;
    uint32_t origin;
};

struct torch_mappings {
    struct range_map map; /* value: origin, the number of whatever mapped the addresses first */
    struct torch_cut *cuts;
    size_t count, capacity;
};

void torch_mappings_init(struct torch_mappings *mappings);
void torch_mappings_release(struct torch_mappings *mappings);

int torch_mappings_clear(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                         struct err *err);
/* Existing mappings in the range are cleared first. */
int torch_mappings_put(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                       uint32_t origin, struct err *err);

/* After sorting, torch_mappings_cuts returns the cuts of an origin, ascending; *count may be 0. */
void torch_mappings_sort_cuts(struct torch_mappings *mappings);
const struct torch_cut *torch_mappings_cuts(const struct torch_mappings *mappings, uint32_t origin,
                                            size_t *count);
