/* SPDX-License-Identifier: MIT */
/* Free memory that was skipped while the pool grew; see holes.h. */
#include "holes.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "whatif.h"

struct search {
    struct whatif whatif;
    struct hole_list *holes;
    int device;
    uint64_t index;
};

static int add_hole(struct hole_list *holes, const struct allocator_block *block, struct err *err)
{
    struct hole *grown =
        array_grow(holes->items, &holes->capacity, holes->count, sizeof *grown, err);

    if (!grown)
        return -1;
    holes->items = grown;
    grown[holes->count++] = (struct hole){.address = block->address,
                                          .size_bytes = block->bytes,
                                          .skipped = block->skipped,
                                          .skipped_bytes = block->skipped_bytes};
    return 0;
}

static int note_moment(void *self, const struct cursor *at)
{
    struct search *search = self;
    const struct whatif_device *device = search->whatif.devices[DEVICE_SLOT(search->device)];

    if (at->index != search->index || !device)
        return 0;
    for (size_t i = 0; i < device->recorded.allocator.block_count; i++) {
        const struct allocator_block *block = &device->recorded.allocator.blocks[i];

        if (block->state == ALLOCATOR_FREE && block->skipped &&
            add_hole(search->holes, block, at->err))
            return -1;
    }
    return 0;
}

static int compare_holes(const void *left, const void *right)
{
    const struct hole *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

int holes_find(struct hole_list *holes, const char *path, int device, uint64_t index,
               struct err *err)
{
    struct search search = {.holes = holes, .device = device, .index = index};
    const struct observer observer = {.self = &search, .on_event = note_moment};

    struct err own = {0};

    *holes = (struct hole_list){.is_known = true};
    if (whatif_follow(&search.whatif, path, &observer, &own)) {
        holes_release(holes);
        if (own.code == ERR_USAGE) /* another allocator ran */
            return 0;
        *err = own;
        return -1;
    }
    whatif_release(&search.whatif);
    if (holes->count)
        qsort(holes->items, holes->count, sizeof *holes->items, compare_holes);
    return 0;
}

void holes_release(struct hole_list *holes)
{
    free(holes->items);
    *holes = (struct hole_list){0};
}

const struct hole *holes_at(const struct hole_list *holes, uint64_t address, uint64_t size_bytes)
{
    size_t low = 0, high = holes->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (holes->items[middle].address + holes->items[middle].size_bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < holes->count && holes->items[low].address < address + size_bytes
               ? &holes->items[low]
               : NULL;
}
