/* SPDX-License-Identifier: MIT */
/* Reports of framework pools become events; see pool.h. */
#include "pool.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "interpose/hook/capture.h"
#include "gpumemtrace/compiler.h"
#include "interpose/stack/string_ids.h"

enum { OUT_OF_MEMORY = 2 }; /* as the driver and the runtime call it */

/* A program has few pools, and mostly one. */
static uint32_t name_id(struct thread *thread, const char *pool)
{
    if (GMT_LIKELY(pool && thread->pool_id && strcmp(pool, thread->pool) == 0))
        return thread->pool_id;
    const uint32_t id = strings_intern(thread, pool);
    const size_t length = pool ? strnlen(pool, sizeof thread->pool) : 0;
    if (length > 0 && length < sizeof thread->pool) {
        memcpy(thread->pool, pool, length + 1);
        thread->pool_id = id;
    }
    return id;
}

static struct capture_facts facts_of(struct capture *capture, const char *pool, int device)
{
    return (struct capture_facts){.kind = capture->kind,
                                  .memory = MEMORY_TENSOR,
                                  .device = device,
                                  .object = name_id(capture->thread, pool)};
}

static void note_allocation(const char *pool, int device, uint64_t address, uint64_t size_bytes,
                            int result)
{
    const int saved_errno = errno;
    struct capture capture;
    if (capture_begin(&capture, HOOK_pool, EVENT_ALLOC, MEMORY_TENSOR)) {
        struct capture_facts facts = facts_of(&capture, pool, device);
        facts.address = address;
        facts.size_bytes = size_bytes;
        capture_store(&capture, &facts, result);
        capture_leave(&capture);
    }
    errno = saved_errno;
}

void pool_alloc(const char *pool, int device, uint64_t address, uint64_t size_bytes)
{
    if (address)
        note_allocation(pool, device, address, size_bytes, 0);
}

void pool_failed(const char *pool, int device, uint64_t size_bytes)
{
    note_allocation(pool, device, 0, size_bytes, OUT_OF_MEMORY);
}

void pool_free(const char *pool, int device, uint64_t address)
{
    const int saved_errno = errno;
    struct capture capture;
    if (capture_begin(&capture, HOOK_pool, EVENT_FREE, MEMORY_TENSOR)) {
        struct capture_facts facts = facts_of(&capture, pool, device);
        facts.address = address;
        capture_before(&capture, &facts);
        capture_finish(&capture, 0, true);
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
    pool_alloc(pool, device, (uint64_t)(uintptr_t)address, size_bytes);
}

void gpumemtrace_pool_free(const char *pool, int device, const void *address)
{
    pool_free(pool, device, (uint64_t)(uintptr_t)address);
}

void gpumemtrace_pool_oom(const char *pool, int device, size_t size_bytes)
{
    pool_failed(pool, device, size_bytes);
}
