/* SPDX-License-Identifier: MIT */
/* Finds the memory from before the first history entry; see torch_device.h. Entries are undone from
 * the last to the first. If a block exists at the end and no entry allocated it, it existed before
 * the first entry. The same holds for a block that an entry freed and no entry allocated. */
#include "torch_device.h"

#include <stdlib.h>

#include "torch_mappings.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"
#include "gpumemtrace/compiler.h"

struct past {
    struct torch_device *device;
    struct pair_map blocks, segments; /* present after undoing so far: index by address */
    struct pair_map given;            /* addresses of a later alloc, with no free in between */
    struct torch_mappings mapped;
    struct err *err;
};

uint64_t torch_device_rounded(const struct torch_device *device, uint64_t bytes)
{
    enum { LEAST_BYTES = 512, FIRST_LOG = 20 };

    if (bytes <= LEAST_BYTES)
        return torch_rounded(bytes);
    const unsigned log = GMT_HIGHEST_BIT(bytes);
    const unsigned above = log > FIRST_LOG ? log - FIRST_LOG : 0;
    const uint64_t divisions =
        device->divisions[above < TORCH_DIVISIONS ? above : TORCH_DIVISIONS - 1];

    if (divisions < 2 || bytes <= LEAST_BYTES * divisions)
        return torch_rounded(bytes);
    const uint64_t step = ((uint64_t)1 << log) >> GMT_HIGHEST_BIT(divisions);
    return (bytes + step - 1) / step * step;
}

void torch_device_release(struct torch_device *device)
{
    free(device->steps);
    free(device->blocks);
    free(device->segments);
    *device = (struct torch_device){0};
}

static int add_block(struct past *past, const struct torch_step *step)
{
    struct torch_device *device = past->device;
    if (ARRAY_GROW(device->blocks, device->block_capacity, device->block_count, past->err))
        return -1;
    device->blocks[device->block_count] =
        (struct torch_block){.address = step->address,
                             .size_bytes = torch_device_rounded(device, step->size_bytes),
                             .requested_bytes = step->size_bytes,
                             .stream = step->stream};
    return pair_map_put(&past->blocks, 0, step->address, (uint32_t)device->block_count++,
                        past->err);
}

static int add_segment(struct past *past, const struct torch_segment *segment)
{
    struct torch_device *device = past->device;
    if (ARRAY_GROW(device->segments, device->segment_capacity, device->segment_count, past->err))
        return -1;
    device->segments[device->segment_count++] = *segment;
    return 0;
}

/* If a block is at this address after the free, and no entry allocates it, it was allocated while
 * no history was recorded (TORCH_AFTER). */
static int undo_free(struct past *past, const struct torch_step *step)
{
    const uint32_t there = pair_map_get(&past->blocks, 0, step->address);
    if (there != PAIR_MAP_NONE)
        past->device->blocks[there].birth = TORCH_AFTER;
    return add_block(past, step);
}

static int undo_segment_free(struct past *past, const struct torch_step *step)
{
    const uint32_t there = pair_map_get(&past->segments, 0, step->address);
    const struct torch_segment freed = {
        .address = step->address, .size_bytes = step->size_bytes, .stream = step->stream};
    if (there != PAIR_MAP_NONE)
        past->device->segments[there].birth = TORCH_AFTER;
    return add_segment(past, &freed) ||
                   pair_map_put(&past->segments, 0, step->address,
                                (uint32_t)past->device->segment_count - 1, past->err)
               ? -1
               : 0;
}

static int undo_alloc(struct past *past, struct torch_step *step, size_t end_count)
{
    step->block = pair_map_remove(&past->blocks, 0, step->address);
    if (step->block >= end_count) /* freed later: its size is unknown */
        step->block = TORCH_NONE;
    if (pair_map_get(&past->given, 0, step->address) != PAIR_MAP_NONE)
        past->device->unfreed_count++;
    return pair_map_put(&past->given, 0, step->address, 0, past->err);
}

static int undo(struct past *past, struct torch_step *step, size_t end_count)
{
    if (step->action == TORCH_FREE_REQUESTED || step->action == TORCH_FREE_COMPLETED) {
        past->device->has_frees = true;
        pair_map_remove(&past->given, 0, step->address);
    }
    if (step->action == past->device->frees_on)
        return undo_free(past, step);
    switch (step->action) {
    case TORCH_ALLOC:
        return undo_alloc(past, step, end_count);
    case TORCH_SEGMENT_ALLOC:
        pair_map_remove(&past->segments, 0, step->address);
        return 0;
    case TORCH_SEGMENT_FREE:
        return undo_segment_free(past, step);
    case TORCH_SEGMENT_MAP:
        return torch_mappings_clear(&past->mapped, step->address, step->size_bytes, past->err);
    case TORCH_SEGMENT_UNMAP:
        return torch_mappings_put(&past->mapped, step->address, step->size_bytes, 0, past->err);
    default:
        return 0;
    }
}

static int begin_at_end(struct past *past)
{
    struct torch_device *device = past->device;
    for (size_t i = 0; i < device->block_count; i++)
        if (pair_map_put(&past->blocks, 0, device->blocks[i].address, (uint32_t)i, past->err))
            return -1;
    for (size_t i = 0; i < device->segment_count; i++) {
        const struct torch_segment *segment = &device->segments[i];
        const int status =
            segment->is_mapped
                ? torch_mappings_put(&past->mapped, segment->address, segment->size_bytes, 0,
                                     past->err)
                : pair_map_put(&past->segments, 0, segment->address, (uint32_t)i, past->err);
        if (status)
            return -1;
    }
    return 0;
}

/* Call this when all entries are undone: whatever is still present existed before the first entry.
 * The mappings of that moment are added as segments. */
static int keep_first(struct past *past)
{
    struct torch_device *device = past->device;
    const struct range_node *node;
    uint64_t address = 0;
    for (size_t i = 0; i < device->block_count; i++)
        if (pair_map_get(&past->blocks, 0, device->blocks[i].address) == i)
            device->blocks[i].birth = TORCH_BEFORE;
    for (size_t i = 0; i < device->segment_count; i++)
        if (!device->segments[i].is_mapped &&
            pair_map_get(&past->segments, 0, device->segments[i].address) == i)
            device->segments[i].birth = TORCH_BEFORE;
    while ((node = range_map_at_or_after(&past->mapped.map, address))) {
        const struct torch_segment mapping = {.address = node->start,
                                              .size_bytes = node->size_bytes,
                                              .is_mapped = true,
                                              .birth = TORCH_BEFORE};
        if (add_segment(past, &mapping))
            return -1;
        address = mapping.address + mapping.size_bytes;
    }
    device->has_past = past->blocks.count || past->segments.count || address;
    return 0;
}

static enum torch_action find_frees(const struct torch_device *device)
{
    for (size_t i = 0; i < device->step_count; i++)
        if (device->steps[i].action == TORCH_FREE_REQUESTED)
            return TORCH_FREE_REQUESTED;
    return TORCH_FREE_COMPLETED;
}

int torch_past_find(struct torch_device *device, struct err *err)
{
    const size_t end_count = device->block_count;
    struct past past = {.device = device, .err = err};
    int status;
    device->frees_on = find_frees(device);
    torch_mappings_init(&past.mapped);
    status = begin_at_end(&past);
    for (size_t i = device->step_count; i-- > 0 && !status;)
        status = undo(&past, &device->steps[i], end_count);
    if (!status)
        status = keep_first(&past);
    pair_map_release(&past.blocks);
    pair_map_release(&past.segments);
    pair_map_release(&past.given);
    torch_mappings_release(&past.mapped);
    return status;
}
