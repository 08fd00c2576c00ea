/* SPDX-License-Identifier: MIT */
/*
 * Which addresses of expandable segments are mapped. They may be unmapped in other pieces than they were mapped in,
 * and a driver's object is mapped and unmapped whole: cuts say where that must be foreseen. It must not know why
 * addresses are mapped.
 *
 *     put    ├────────── origin 7 ──────────┤
 *     clear            ├──────┤                     cuts of origin 7: two
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_TORCH_PIECES_H
#define GPUMEMTRACE_ANALYZER_IMPORT_TORCH_PIECES_H

#include "analyzer/util/range_map.h"

struct torch_cut {
    uint64_t address;
    uint32_t origin;
};

struct torch_pieces {
    struct range_map map; /* value: origin, what mapped them first */
    struct torch_cut *cuts;
    size_t count, capacity;
};

void torch_pieces_init(struct torch_pieces *pieces);
void torch_pieces_release(struct torch_pieces *pieces);

int torch_pieces_clear(struct torch_pieces *pieces, uint64_t address, uint64_t size_bytes,
                       struct err *err);
/* What was mapped there is cleared first. */
int torch_pieces_put(struct torch_pieces *pieces, uint64_t address, uint64_t size_bytes,
                     uint32_t origin, struct err *err);

/* From here on: where to cut what an origin mapped, ascending; *count may be 0. */
void torch_pieces_sort_cuts(struct torch_pieces *pieces);
const struct torch_cut *torch_pieces_cuts(const struct torch_pieces *pieces, uint32_t origin,
                                          size_t *count);

#endif
