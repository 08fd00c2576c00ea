/* SPDX-License-Identifier: MIT */
/*
 * The hooks of calls that take a list: tiles of sparse arrays, and graphics resources. After the
 * call, each entry of the list becomes an event. The call succeeds or fails as a whole.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooked_call.h"
#include "interpose/cuda/device.h"
#include "prologue.h"

/* Returns a hash of a tile's position in its array. So the events that map and unmap a tile have
 * the same number. */
static uint64_t tile_number(const CUarrayMapInfo *tile)
{
    const uint64_t prime = 0x100000001b3u;
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)tile->subresourceType;
    if (tile->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL) {
        hash = (hash ^ tile->subresource.miptail.layer) * prime;
        return (hash ^ tile->subresource.miptail.offset) * prime >> 1;
    }
    hash = (hash ^ tile->subresource.sparseLevel.level) * prime;
    hash = (hash ^ tile->subresource.sparseLevel.layer) * prime;
    hash = (hash ^ tile->subresource.sparseLevel.offsetX) * prime;
    hash = (hash ^ tile->subresource.sparseLevel.offsetY) * prime;
    return (hash ^ tile->subresource.sparseLevel.offsetZ) * prime >> 1;
}

static void store_tile(struct hooked_call *call, const CUarrayMapInfo *tile)
{
    const bool maps = tile->memOperationType == CU_MEM_OPERATION_TYPE_MAP;
    const struct event_args args = {.kind = maps ? EVENT_BIND : EVENT_UNBIND,
                                    .memory = MEMORY_VMM,
                                    .device = DEVICE_BY_ADDRESS,
                                    .address = tile_number(tile),
                                    .object = maps ? tile->memHandle.memHandle : 0,
                                    .stream = bits(tile->resource.array)};
    hooked_call_store(call, &args, 0);
}

static void store_resource(struct hooked_call *call, CUgraphicsResource resource)
{
    const bool maps = call->kind == EVENT_ALLOC;
    const struct event_args args = {.kind = call->kind,
                                    .memory = MEMORY_EXTERNAL,
                                    .device = device_current(call->thread),
                                    .address = bits(resource),
                                    .size_bytes = maps ? device_graphics_bytes(resource) : 0};
    hooked_call_store(call, &args, 0);
}

/* clang-format off */
#define LIST(api, name, kind, memory, parameters, arguments, store_entry)                          \
    HOOK_FUNCTION(api, name, parameters,                                                           \
        struct hooked_call call;                                                                   \
        if (!hooked_call_begin(&call, HOOK_##name, kind, memory))                                  \
            return real arguments;                                                                 \
        const api##_status status = real arguments;                                                \
        const int saved_errno = errno;                                                             \
        for (unsigned i = 0; status == 0 && i < (unsigned)count; i++)                              \
            store_entry;                                                                           \
        errno = saved_errno;                                                                       \
        hooked_call_leave(&call);                                                                  \
        return status;)

#define TILES(name)                                                                                \
    LIST(driver, name, EVENT_BIND, MEMORY_VMM,                             \
         (CUarrayMapInfo *list, unsigned count, CUstream stream), (list, count, stream),           \
         store_tile(&call, &list[i]))
#define RESOURCES(name, kind)                                                                      \
    LIST(driver, name, kind, MEMORY_EXTERNAL,                              \
         (unsigned count, CUgraphicsResource *list, CUstream stream), (count, list, stream),       \
         store_resource(&call, list[i]))
#define RUNTIME_RESOURCES(name, kind)                                                              \
    LIST(runtime, name, kind, MEMORY_EXTERNAL,            \
         (int count, cudaGraphicsResource_t *list, cudaStream_t stream), (count, list, stream),    \
         store_resource(&call, (CUgraphicsResource)list[i]))

TILES(cuMemMapArrayAsync)
TILES(cuMemMapArrayAsync_ptsz)
RESOURCES(cuGraphicsMapResources, EVENT_ALLOC)
RESOURCES(cuGraphicsMapResources_ptsz, EVENT_ALLOC)
RESOURCES(cuGraphicsUnmapResources, EVENT_FREE)
RESOURCES(cuGraphicsUnmapResources_ptsz, EVENT_FREE)
RUNTIME_RESOURCES(cudaGraphicsMapResources, EVENT_ALLOC)
RUNTIME_RESOURCES(cudaGraphicsUnmapResources, EVENT_FREE)
/* clang-format on */
