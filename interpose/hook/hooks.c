/* SPDX-License-Identifier: MIT */
/*
 * The hooks, expanded from hooks.def. Each hook notes the call, before or after it calls the real
 * function, and returns the result of the real function.
 */
#include "trace/hook_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooked_call.h"
#include "interpose/cuda/array_size.h"
#include "interpose/cuda/device.h"
#include "prologue.h"

/* Words that the columns device and object of hooks.def may use. */
#define CURRENT DEVICE_CURRENT
#define BY_ADDRESS DEVICE_BY_ADDRESS
#define CONTEXT OBJECT_CURRENT_CONTEXT
#define MEMPOOL OBJECT_CURRENT_MEMPOOL

/* Words that the columns device and memory may use, and that depend on a struct of properties. In
 * the structs of both the driver and the runtime, location type 1 is a device, and a larger type is
 * host memory. */
#define BY_LOCATION(properties)                                                                    \
    ((properties) && (int)(properties)->location.type == 1 ? (properties)->location.id : CURRENT)
#define IS_ON_HOST(properties) ((properties) && (int)(properties)->location.type > 1)
#define MEMORY_VMM_BY_LOCATION (IS_ON_HOST(prop) ? MEMORY_VMM_HOST : MEMORY_VMM)
#define MEMORY_ASYNC_BY_POOL                                                                       \
    pool_memory(IS_ON_HOST(poolProps), poolProps ? (int)poolProps->allocType : 0)

static inline enum memory_kind pool_memory(bool on_host, int allocation_type)
{
    const int managed = 2; /* CU_MEM_ALLOCATION_TYPE_MANAGED, since CUDA 13 */
    if (allocation_type == managed)
        return MEMORY_ASYNC_MANAGED;
    return on_host ? MEMORY_ASYNC_HOST : MEMORY_ASYNC;
}

/* In functions whose names end in _ptsz, stream 0 means the per-thread default stream, whose handle
 * is 2. */
#define PER_THREAD(stream) ((stream) ? bits(stream) : (uint64_t)2)

/* `before` is a constant, so the compiler keeps only one of the two branches. */
/* clang-format off */
#define HOOK(api, name, parameters, arguments, kind_of, memory_of, device_of, address_of, size_of, \
             object_of, stream_of)                                                                 \
    HOOK_FUNCTION(api, name, parameters,                                                           \
        const bool before = hooked_call_is_noted_before(EVENT_##kind_of);                          \
        struct hooked_call call;                                                                   \
        if (!hooked_call_begin(&call, HOOK_##name, EVENT_##kind_of, MEMORY_##memory_of))           \
            return real arguments;                                                                 \
        if (before) {                                                                              \
            const bool ok GMT_UNUSED = false;                                                      \
            const struct event_args args = {EVENT_##kind_of, MEMORY_##memory_of, device_of,        \
                                            address_of, size_of, object_of, stream_of};            \
            hooked_call_before(&call, &args);                                                      \
            const api##_status status = real arguments;                                            \
            hooked_call_finish(&call, &args, (int)status, true);                                   \
            return status;                                                                         \
        }                                                                                          \
        const api##_status status = real arguments;                                                \
        const bool ok GMT_UNUSED = status == 0;                                                    \
        hooked_call_after(&call, &(struct event_args){EVENT_##kind_of, MEMORY_##memory_of,         \
                                                      device_of, address_of, size_of, object_of,   \
                                                      stream_of},                                  \
                          (int)status);                                                            \
        return status;)
/* clang-format on */
#define SEEN(api, name)
#include "gpumemtrace/hooks.def"
