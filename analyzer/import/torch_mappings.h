/* SPDX-License-Identifier: MIT */
/*
 * Which addresses of expandable segments are mapped. They may be unmapped in other mappings than they were mapped in,
 * and a driver's object is mapped and unmapped whole: cuts say where that must be foreseen. It must not know why
 * addresses are mapped.
 *
 *     put    ├────────── origin 7 ──────────┤
 *     clear            ├──────┤                     cuts of origin 7: two
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_TORCH_MAPPINGS_H
#define GPUMEMTRACE_ANALYZER_IMPORT_TORCH_MAPPINGS_H

#include "analyzer/util/range_map.h"

struct torch_cut {
    uint64_t address;
    uint32_t origin;
};

struct torch_mappings {
    struct range_map map; /* value: origin, what mapped them first */
    struct torch_cut *cuts;
    size_t count, capacity;
};

void torch_mappings_init(struct torch_mappings *mappings);
void torch_mappings_release(struct torch_mappings *mappings);

int torch_mappings_clear(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                         struct err *err);
/* What was mapped there is cleared first. */
int torch_mappings_put(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                       uint32_t origin, struct err *err);

/* From here on: where to cut what an origin mapped, ascending; *count may be 0. */
void torch_mappings_sort_cuts(struct torch_mappings *mappings);
const struct torch_cut *torch_mappings_cuts(const struct torch_mappings *mappings, uint32_t origin,
                                            size_t *count);

#endif
