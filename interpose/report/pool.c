/* SPDX-License-Identifier: MIT */
/*
 * See pool.h.
 */
#include "pool.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "interpose/hook/hooked_call.h"
#include "interpose/life/frameworks.h"
#include "interpose/recording/string_ids.h"

enum { OUT_OF_MEMORY = 2 }; /* the error number in the driver and in the runtime */

/* The name of the thread's last pool, if the name is short, and the string_id of the name. They are
 * cached, because most programs have only one pool. */
struct last_pool {
    char name[16];
    uint32_t name_id;
};
static struct thread_part part = THREAD_PART(struct last_pool, sizeof(struct last_pool));

static uint32_t pool_name_id(struct thread *thread, const char *name)
{
    struct last_pool *last = thread_part(thread, &part);
    frameworks_look(thread);
    if (GMT_LIKELY(name && last->name_id && strcmp(name, last->name) == 0))
        return last->name_id;
    const uint32_t id = strings_intern(thread, name);
    const size_t length = name ? strnlen(name, sizeof last->name) : 0;
    if (length > 0 && length < sizeof last->name) {
        memcpy(last->name, name, length + 1);
        last->name_id = id;
    }
    return id;
}

static struct event_args pool_event(struct hooked_call *call, const char *pool, int device,
                                    uint64_t stream)
{
    return (struct event_args){.kind = call->kind,
                               .memory = MEMORY_TENSOR,
                               .device = device,
                               .stream = stream,
                               .object = pool_name_id(call->thread, pool)};
}

static void note_allocation(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                            uint64_t stream, int result)
{
    const int saved_errno = errno;
    struct hooked_call call;
    if (hooked_call_begin(&call, HOOK_pool, EVENT_ALLOC, MEMORY_TENSOR)) {
        struct event_args args = pool_event(&call, pool, device, stream);
        args.address = address;
        args.size_bytes = size_bytes;
        hooked_call_store(&call, &args, result);
        hooked_call_leave(&call);
    }
    errno = saved_errno;
}

void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                uint64_t stream)
{
    if (address)
        note_allocation(pool, device, address, size_bytes, stream, 0);
}

void pool_failed(const char *pool, int device, uint64_t size_bytes, uint64_t stream)
{
    note_allocation(pool, device, 0, size_bytes, stream, OUT_OF_MEMORY);
}

void pool_free(const char *pool, int device, uint64_t address)
{
    const int saved_errno = errno;
    struct hooked_call call;
    if (hooked_call_begin(&call, HOOK_pool, EVENT_FREE, MEMORY_TENSOR)) {
        struct event_args args = pool_event(&call, pool, device, STREAM_UNKNOWN);
        args.address = address;
        hooked_call_before(&call, &args);
        hooked_call_finish(&call, &args, 0, true);
    }
    errno = saved_errno;
}

void pool_asked(int device, uint64_t address, uint64_t bytes)
{
    struct thread *thread = thread_current();
    const struct event_args args = {
        .kind = EVENT_POOL_ASKED, .device = device, .address = address, .size_bytes = bytes};
    if (thread)
        event_write(thread, HOOK_pool, &args);
}

void pool_limit(const char *pool, int device, uint64_t bytes, uint64_t rounding_bytes)
{
    const int saved_errno = errno;
    struct thread *thread = thread_current();
    if (thread) {
        const struct event_args args = {.kind = EVENT_POOL_LIMIT,
                                        .device = device,
                                        .object = pool_name_id(thread, pool),
                                        .size_bytes = bytes,
                                        .address = rounding_bytes};
        event_write(thread, HOOK_pool, &args);
    }
    errno = saved_errno;
}

/* --- the public API, found by name: include/gpumemtrace/gpumemtrace.h --- */

GMT_EXPORT void gpumemtrace_pool_alloc(const char *pool, int device, const void *address,
                                       size_t size_bytes);
GMT_EXPORT void gpumemtrace_pool_free(const char *pool, int device, const void *address);
GMT_EXPORT void gpumemtrace_pool_oom(const char *pool, int device, size_t size_bytes);

void gpumemtrace_pool_alloc(const char *pool, int device, const void *address, size_t size_bytes)
{
    pool_alloc(pool, device, (uint64_t)(uintptr_t)address, size_bytes, STREAM_UNKNOWN);
}

void gpumemtrace_pool_free(const char *pool, int device, const void *address)
{
    pool_free(pool, device, (uint64_t)(uintptr_t)address);
}

void gpumemtrace_pool_oom(const char *pool, int device, size_t size_bytes)
{
    pool_failed(pool, device, size_bytes, STREAM_UNKNOWN);
}
