/* SPDX-License-Identifier: MIT */
/* Mapped addresses, and where their pieces are cut; see torch_pieces.h. */
#include "torch_pieces.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

void torch_pieces_init(struct torch_pieces *pieces)
{
    *pieces = (struct torch_pieces){0};
    range_map_init(&pieces->map);
}

void torch_pieces_release(struct torch_pieces *pieces)
{
    range_map_release(&pieces->map);
    free(pieces->cuts);
    pieces->cuts = NULL;
}

static int insert(struct torch_pieces *pieces, uint64_t start, uint64_t end, uint32_t origin,
                  struct err *err)
{
    uint32_t replaced;

    return range_map_insert(&pieces->map, start, end - start, origin, &replaced, err);
}

/* The piece that the address lies within, if there is one, ends and begins there. */
static int cut_at(struct torch_pieces *pieces, uint64_t address, struct err *err)
{
    const struct range_node *node = range_map_at_or_after(&pieces->map, address);

    if (!node || node->start >= address)
        return 0;
    const struct range_node whole = *node;
    struct torch_cut *grown =
        array_grow(pieces->cuts, &pieces->capacity, pieces->count, sizeof *grown, err);
    if (!grown)
        return -1;
    pieces->cuts = grown;
    grown[pieces->count++] = (struct torch_cut){address, whole.value};
    range_map_remove(&pieces->map, whole.start);
    return insert(pieces, whole.start, address, whole.value, err) ||
                   insert(pieces, address, whole.start + whole.size_bytes, whole.value, err)
               ? -1
               : 0;
}

int torch_pieces_clear(struct torch_pieces *pieces, uint64_t address, uint64_t size_bytes,
                       struct err *err)
{
    const struct range_node *node;
    const uint64_t end = address + size_bytes;

    if (cut_at(pieces, address, err) || cut_at(pieces, end, err))
        return -1;
    while ((node = range_map_at_or_after(&pieces->map, address)) && node->start < end)
        range_map_remove(&pieces->map, node->start);
    return 0;
}

int torch_pieces_put(struct torch_pieces *pieces, uint64_t address, uint64_t size_bytes,
                     uint32_t origin, struct err *err)
{
    if (!size_bytes)
        return 0;
    return torch_pieces_clear(pieces, address, size_bytes, err) ||
                   insert(pieces, address, address + size_bytes, origin, err)
               ? -1
               : 0;
}

static int compare_cuts(const void *left, const void *right)
{
    const struct torch_cut *a = left, *b = right;

    if (a->origin != b->origin)
        return a->origin < b->origin ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

void torch_pieces_sort_cuts(struct torch_pieces *pieces)
{
    if (pieces->count)
        qsort(pieces->cuts, pieces->count, sizeof *pieces->cuts, compare_cuts);
}

const struct torch_cut *torch_pieces_cuts(const struct torch_pieces *pieces, uint32_t origin,
                                          size_t *count)
{
    size_t low = 0, high = pieces->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (pieces->cuts[middle].origin < origin)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < pieces->count && pieces->cuts[low + *count].origin == origin)
        ++*count;
    return *count ? &pieces->cuts[low] : NULL;
}
