/* SPDX-License-Identifier: MIT */
/* Mapped address ranges, and where mappings are cut; see torch_mappings.h. */
#include "torch_mappings.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

void torch_mappings_init(struct torch_mappings *mappings)
{
    *mappings = (struct torch_mappings){0};
    range_map_init(&mappings->map);
}

void torch_mappings_release(struct torch_mappings *mappings)
{
    range_map_release(&mappings->map);
    free(mappings->cuts);
    mappings->cuts = NULL;
}

static int insert(struct torch_mappings *mappings, uint64_t start, uint64_t end, uint32_t origin,
                  struct err *err)
{
    uint32_t replaced;
    return range_map_insert(&mappings->map, start, end - start, origin, &replaced, err);
}

/* Splits the mapping that contains the address, if any, and remembers the cut. */
static int cut_at(struct torch_mappings *mappings, uint64_t address, struct err *err)
{
    const struct range_node *node = range_map_at_or_after(&mappings->map, address);
    if (!node || node->start >= address)
        return 0;
    const struct range_node whole = *node;
    if (ARRAY_GROW(mappings->cuts, mappings->capacity, mappings->count, err))
        return -1;
    mappings->cuts[mappings->count++] = (struct torch_cut){address, whole.value};
    range_map_remove(&mappings->map, whole.start);
    return insert(mappings, whole.start, address, whole.value, err) ||
                   insert(mappings, address, whole.start + whole.size_bytes, whole.value, err)
               ? -1
               : 0;
}

int torch_mappings_clear(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                         struct err *err)
{
    const struct range_node *node;
    const uint64_t end = address + size_bytes;
    if (cut_at(mappings, address, err) || cut_at(mappings, end, err))
        return -1;
    while ((node = range_map_at_or_after(&mappings->map, address)) && node->start < end)
        range_map_remove(&mappings->map, node->start);
    return 0;
}

int torch_mappings_put(struct torch_mappings *mappings, uint64_t address, uint64_t size_bytes,
                       uint32_t origin, struct err *err)
{
    if (!size_bytes)
        return 0;
    return torch_mappings_clear(mappings, address, size_bytes, err) ||
                   insert(mappings, address, address + size_bytes, origin, err)
               ? -1
               : 0;
}

ORDER_BY(compare_cuts, struct torch_cut, RISING(origin), RISING(address));

void torch_mappings_sort_cuts(struct torch_mappings *mappings)
{
    SORT(mappings->cuts, mappings->count, compare_cuts);
}

const struct torch_cut *torch_mappings_cuts(const struct torch_mappings *mappings, uint32_t origin,
                                            size_t *count)
{
    const size_t low =
        SORTED_BELOW(struct torch_cut, origin, mappings->cuts, mappings->count, origin);
    *count = 0;
    while (low + *count < mappings->count && mappings->cuts[low + *count].origin == origin)
        ++*count;
    return *count ? &mappings->cuts[low] : NULL;
}
