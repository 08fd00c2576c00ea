/* SPDX-License-Identifier: MIT */
/*
 * Mapping memory into arrays. See tiles.h. A program must unmap a region, or map it again, with the
 * same bounds as when it was first mapped. Mapping a region again replaces its memory.
 */
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "simulator/driver/stream/capture.h"
#include "gpumemtrace/compiler.h"
#include "simulator/driver/memory/physical.h"
#include "simulator/driver/stream/stream.h"

/* The mapped part of an array; all zero for an array with deferred mapping. */
struct region {
    uint64_t is_tail, level, layer;
    uint64_t x, y, z, width, height, depth; /* in the mip tail, x and width are bytes */
};

struct tile_mapping {
    struct tile_mapping *next;
    struct region region;
    struct physical *memory;
};

/* An array or a mipmapped array. Only a mipmapped array can have a mip tail. */
struct target {
    const CUDA_ARRAY3D_DESCRIPTOR *descriptor;
    unsigned level_count;
    bool has_tail;
    struct tiles *tiles;
};

static void tile_drop(struct tile_mapping **place)
{
    struct tile_mapping *mapping = *place;
    *place = mapping->next;
    physical_drop(mapping->memory);
    free(mapping);
}

void tiles_drop(struct tiles *tiles)
{
    while (tiles->first)
        tile_drop(&tiles->first);
}

static struct tile_mapping **tile_find(struct tiles *tiles, const struct region *region)
{
    struct tile_mapping **place = &tiles->first;
    while (*place && memcmp(&(*place)->region, region, sizeof *region))
        place = &(*place)->next;
    return place;
}

/* --- tile sizes --- */

struct shape {
    unsigned width, height, depth; /* elements */
};

/* Tiles have 64 KiB and are nearly a square or a cube, as on every device with sparse arrays. */
static struct shape tile_of(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    static const struct shape flat[] = {
        {256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
    static const struct shape deep[] = {
        {64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    const bool is_deep = descriptor->Depth && !(descriptor->Flags & CUDA_ARRAY3D_LAYERED);
    const uint64_t element_bytes = array_element_bytes(descriptor);
    unsigned row = 0;
    while (row < 4 && (uint64_t)1 << row < element_bytes)
        row++;
    return is_deep ? deep[row] : flat[row];
}

/* Returns the first level that is smaller than a tile in at least one dimension. */
static unsigned tail_level(const struct target *target)
{
    const struct shape tile = tile_of(target->descriptor);
    for (unsigned level = 0; target->has_tail && level < target->level_count; level++) {
        const CUDA_ARRAY3D_DESCRIPTOR one = array_level(target->descriptor, level);
        if (one.Width < tile.width || one.Height < tile.height ||
            (tile.depth > 1 && one.Depth < tile.depth))
            return level;
    }
    return target->level_count;
}

static uint64_t tail_bytes(const struct target *target)
{
    uint64_t all_bytes = 0, before_bytes = 0, rounded_bytes = 0;
    array_levels_bytes(target->descriptor, target->level_count, &all_bytes);
    array_levels_bytes(target->descriptor, tail_level(target), &before_bytes);
    round_up_overflows(all_bytes - before_bytes, TILE_BYTES, &rounded_bytes);
    return rounded_bytes;
}

/* --- mapping --- */

static bool is_aligned(uint64_t offset, uint64_t extent, unsigned tile, uint64_t whole)
{
    return offset % tile == 0 && extent && offset <= whole && extent <= whole - offset &&
           (extent % tile == 0 || offset + extent == whole);
}

static bool is_deferred(const struct target *target)
{
    return target->descriptor->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING;
}

static bool read_level(const struct target *target, const CUarrayMapInfo *info,
                       struct region *region)
{
    const struct shape tile = tile_of(target->descriptor);
    *region = (struct region){
        .level = info->subresource.sparseLevel.level,
        .layer = info->subresource.sparseLevel.layer,
        .x = info->subresource.sparseLevel.offsetX,
        .y = info->subresource.sparseLevel.offsetY,
        .z = info->subresource.sparseLevel.offsetZ,
        .width = info->subresource.sparseLevel.extentWidth,
        .height = info->subresource.sparseLevel.extentHeight,
        .depth = info->subresource.sparseLevel.extentDepth,
    };
    if (region->level >= tail_level(target))
        return false;
    const CUDA_ARRAY3D_DESCRIPTOR one = array_level(target->descriptor, (unsigned)region->level);
    const bool is_layered = one.Flags & CUDA_ARRAY3D_LAYERED;
    return region->layer < (is_layered ? one.Depth : 1) &&
           is_aligned(region->x, region->width, tile.width, one.Width) &&
           is_aligned(region->y, region->height, tile.height, one.Height) &&
           is_aligned(region->z, region->depth, tile.depth, tile.depth > 1 ? one.Depth : 1);
}

static bool read_region(const struct target *target, const CUarrayMapInfo *info,
                        struct region *region)
{
    *region = (struct region){0};
    if (is_deferred(target))
        return true;
    if (info->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL)
        return read_level(target, info, region);
    region->is_tail = 1;
    region->layer = info->subresource.miptail.layer;
    region->x = info->subresource.miptail.offset;
    region->width = info->subresource.miptail.size;
    return info->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL && region->width &&
           region->x % TILE_BYTES == 0 && region->width % TILE_BYTES == 0 &&
           region->x <= tail_bytes(target) && region->width <= tail_bytes(target) - region->x;
}

/* Counts whole tiles, because the last tile of a row may extend beyond the array. */
static uint64_t region_bytes(const struct target *target, const struct region *region)
{
    const struct shape tile = tile_of(target->descriptor);
    uint64_t bytes = region->width;
    if (is_deferred(target))
        array_levels_bytes(target->descriptor, target->level_count, &bytes);
    else if (!region->is_tail)
        bytes = (region->width + tile.width - 1) / tile.width *
                ((region->height + tile.height - 1) / tile.height) *
                ((region->depth + tile.depth - 1) / tile.depth) * TILE_BYTES;
    return bytes;
}

/* The memory must be created for tiles, belong to the mapping device, and be large enough. */
static CUresult tile_map(const struct target *target, const CUarrayMapInfo *info,
                         const struct region *region, const struct device *device)
{
    struct physical *memory = physical_find(info->memHandle.memHandle);
    const uint64_t needed_bytes = region_bytes(target, region);
    if (!memory || info->memHandleType != CU_MEM_HANDLE_TYPE_GENERIC)
        return CUDA_ERROR_INVALID_HANDLE;
    if (memory->device != device || info->offset % TILE_BYTES ||
        info->offset > memory->size_bytes || needed_bytes > memory->size_bytes - info->offset ||
        !(memory->properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    struct tile_mapping **place = tile_find(target->tiles, region);
    if (*place)
        tile_drop(place);
    struct tile_mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *mapping = (struct tile_mapping){target->tiles->first, *region, memory};
    target->tiles->first = mapping;
    physical_hold(memory);
    return CUDA_SUCCESS;
}

static CUresult tile_unmap(const struct target *target, const CUarrayMapInfo *info,
                           const struct region *region)
{
    struct tile_mapping **place = tile_find(target->tiles, region);
    if (info->memHandle.memHandle || !*place)
        return CUDA_ERROR_INVALID_VALUE;
    tile_drop(place);
    return CUDA_SUCCESS;
}

static bool find_target(const CUarrayMapInfo *info, struct target *target)
{
    struct array *array =
        info->resourceType == CU_RESOURCE_TYPE_ARRAY ? array_find(info->resource.array) : NULL;
    struct mipmap *mipmap = info->resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
                                ? array_find_mipmap(info->resource.mipmap)
                                : NULL;
    if (array && !array->is_level)
        *target = (struct target){&array->descriptor, 1, false, &array->tiles};
    else if (mipmap)
        *target = (struct target){&mipmap->descriptor, mipmap->level_count, true, &mipmap->tiles};
    else
        return false;
    return array_is_mapped_into(target->descriptor);
}

static CUresult tile_change(const CUarrayMapInfo *info, const struct device *device)
{
    struct target target;
    struct region region;
    if (!find_target(info, &target) || !read_region(&target, info, &region) || info->flags ||
        info->deviceBitMask != 1u << device->ordinal)
        return CUDA_ERROR_INVALID_VALUE;
    switch (info->memOperationType) {
    case CU_MEM_OPERATION_TYPE_MAP:
        return tile_map(&target, info, &region, device);
    case CU_MEM_OPERATION_TYPE_UNMAP:
        return tile_unmap(&target, info, &region);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult do_cuMemMapArrayAsync(const char *function, const CUarrayMapInfo *list,
                                      unsigned count, CUstream stream)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && stream_check(&call, stream) &&
        call_requires(&call, list || !count) && capture_lets_through(&call, stream, NULL))
        for (unsigned i = 0; i < count && !call.result; i++)
            call.result = tile_change(&list[i], stream_device(&call, stream));
    return call_end(&call);
}

TWIN(_ptsz, cuMemMapArrayAsync, (CUarrayMapInfo * list, unsigned int count, CUstream stream), list,
     count, stream)

/* --- queries: sizes of tiles and of memory to map --- */

static CUresult sparse_properties(const char *function, const CUarrayMapInfo *resource,
                                  CUDA_ARRAY_SPARSE_PROPERTIES *properties)
{
    struct call call;
    struct target target;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) &&
        call_requires(&call,
                      properties && find_target(resource, &target) && !is_deferred(&target))) {
        const struct shape tile = tile_of(target.descriptor);
        *properties = (CUDA_ARRAY_SPARSE_PROPERTIES){
            .tileExtent = {tile.width, tile.height, tile.depth},
            .miptailFirstLevel = target.has_tail ? tail_level(&target) : 0,
            .miptailSize = tail_bytes(&target),
        };
    }
    return call_end(&call);
}

static CUresult memory_requirements(const char *function, const CUarrayMapInfo *resource,
                                    CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUdevice ordinal)
{
    struct call call;
    struct target target;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_device(&call, ordinal) &&
        call_requires(&call,
                      requirements && find_target(resource, &target) && is_deferred(&target))) {
        uint64_t size_bytes = 0;
        array_levels_bytes(target.descriptor, target.level_count, &size_bytes);
        round_up_overflows(size_bytes, TILE_BYTES, &size_bytes);
        *requirements = (CUDA_ARRAY_MEMORY_REQUIREMENTS){size_bytes, TILE_BYTES, {0}};
    }
    return call_end(&call);
}

static CUarrayMapInfo array_resource(CUarray array)
{
    return (CUarrayMapInfo){.resourceType = CU_RESOURCE_TYPE_ARRAY, .resource.array = array};
}

static CUarrayMapInfo mipmap_resource(CUmipmappedArray mipmap)
{
    return (CUarrayMapInfo){.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                            .resource.mipmap = mipmap};
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array)
{
    const CUarrayMapInfo resource = array_resource(array);
    return sparse_properties(__func__, &resource, properties);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                             CUmipmappedArray array)
{
    const CUarrayMapInfo resource = mipmap_resource(array);
    return sparse_properties(__func__, &resource, properties);
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                      CUdevice device)
{
    const CUarrayMapInfo resource = array_resource(array);
    return memory_requirements(__func__, &resource, requirements, device);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                               CUmipmappedArray array, CUdevice device)
{
    const CUarrayMapInfo resource = mipmap_resource(array);
    return memory_requirements(__func__, &resource, requirements, device);
}
