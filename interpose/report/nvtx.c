/* SPDX-License-Identifier: MIT */
/*
 * Names, domains and ranges of NVTX. See nvtx.h.
 */
#include "nvtx.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "phases.h"

enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

_Static_assert(offsetof(struct nvtx_attributes, message_type) == 32, "as in NVTX 3");
_Static_assert(offsetof(struct nvtx_attributes, message) == 40, "as in NVTX 3");

_Thread_local bool nvtx_forwarding GMT_TLS_INITIAL_EXEC;

/* --- names --- */

const char *nvtx_narrow(const wchar_t *wide, char *text)
{
    size_t used = 0;
    for (; wide && *wide && used + 5 < NVTX_NAME_BYTES; wide++) {
        const uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            text[used++] = (char)c;
            continue;
        }
        const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        text[used++] = (char)((0xf80 >> more & 0xff) | (c >> (6 * more)));
        for (int i = more - 1; i >= 0; i--)
            text[used++] = (char)(0x80 | (c >> (6 * i) & 0x3f));
    }
    text[used] = '\0';
    return text;
}

void *nvtx_new_handle(void)
{
    static _Atomic uintptr_t last;
    return (void *)(atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1);
}

/* Maps a handle to its name. Entries are never removed. An entry's name is stored after its handle
 * (release). */
#define REGISTERED_LIMIT 4096 /* power of two */
struct registry {
    struct registered {
        _Atomic(const void *) handle;
        _Atomic(const char *) name;
    } items[REGISTERED_LIMIT];
    _Atomic unsigned count;
};
static struct registry texts, domains;

/* Returns the entry of this handle, or the free entry where the handle belongs. */
static struct registered *registered_at(struct registry *registry, const void *handle)
{
    size_t at = (size_t)(((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 52);
    for (;; at = (at + 1) % REGISTERED_LIMIT) {
        struct registered *item = &registry->items[at];
        const void *taken = atomic_load_explicit(&item->handle, memory_order_relaxed);
        if (!taken || taken == handle)
            return item;
    }
}

_Static_assert(REGISTERED_LIMIT == 1 << 12, "the hash gives 12 bits");

static void register_name(struct registry *registry, const void *handle, const char *name)
{
    const void *nobody = NULL;
    if (!handle || !name || atomic_fetch_add(&registry->count, 1) >= REGISTERED_LIMIT / 2)
        return;
    struct registered *item = registered_at(registry, handle);
    /* If another thread has just taken the entry, this handle gets no name. */
    if (atomic_compare_exchange_strong(&item->handle, &nobody, handle))
        atomic_store_explicit(&item->name, strdup(name), memory_order_release);
}

void nvtx_register(const void *handle, const char *name)
{
    register_name(&texts, handle, name);
}

void nvtx_register_domain(const void *handle, const char *name)
{
    register_name(&domains, handle, name);
}

/* NULL: the handle was not registered here. */
static const char *registered_name(struct registry *registry, const void *handle)
{
    return atomic_load_explicit(&registered_at(registry, handle)->name, memory_order_acquire);
}

const char *nvtx_name_of(const struct nvtx_attributes *attributes, char *text)
{
    if (!attributes || !attributes->message)
        return "";
    if (attributes->message_type == MESSAGE_ASCII)
        return attributes->message;
    if (attributes->message_type == MESSAGE_REGISTERED) {
        const char *name = registered_name(&texts, attributes->message);
        return name ? name : "";
    }
    return attributes->message_type == MESSAGE_WIDE ? nvtx_narrow(attributes->message, text) : "";
}

/* --- ranges --- */

static uint64_t new_range_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static void begin_range(const void *domain, const char *name, uint64_t range_id)
{
    if (!nvtx_forwarding)
        phases_push_nvtx(domain ? registered_name(&domains, domain) : NULL, name, range_id);
}

static void end_range(uint64_t range_id)
{
    if (!nvtx_forwarding)
        phases_pop(PHASE_SOURCE_NVTX, range_id);
}

/* Ranges of the default domain are the thread's stack of phases. Ranges of other domains may
 * overlap with them and with each other, so each has its own id. If more ranges than OPEN_LIMIT are
 * open, the ranges above the limit are only counted, because static thread-local memory is
 * scarce. */
#define OPEN_LIMIT 24
static _Thread_local struct {
    int default_depth;
    int count, not_kept;
    struct {
        const void *domain;
        uint64_t range_id;
    } open[OPEN_LIMIT];
} own GMT_TLS_INITIAL_EXEC;

static int depth_of(const void *domain)
{
    int depth = 0;
    if (!domain)
        return own.default_depth;
    for (int i = 0; i < own.count; i++)
        depth += own.open[i].domain == domain;
    return depth;
}

static void open_range(const void *domain, const char *name)
{
    if (own.count == OPEN_LIMIT) {
        own.not_kept++;
        return;
    }
    const uint64_t range_id = new_range_id();
    own.open[own.count].domain = domain;
    own.open[own.count++].range_id = range_id;
    begin_range(domain, name, range_id);
}

static void close_range(const void *domain)
{
    int at = own.count;
    if (own.not_kept) {
        own.not_kept--;
        return;
    }
    while (own.open[--at].domain != domain)
        ;
    end_range(own.open[at].range_id);
    memmove(&own.open[at], &own.open[at + 1], (size_t)(--own.count - at) * sizeof own.open[0]);
}

int nvtx_push(const void *domain, const char *name)
{
    const int depth = depth_of(domain);
    if (nvtx_forwarding)
        return depth;
    if (domain) {
        open_range(domain, name);
    } else {
        own.default_depth++;
        begin_range(NULL, name, 0);
    }
    return depth;
}

int nvtx_pop(const void *domain)
{
    const int depth = depth_of(domain) - 1;
    if (nvtx_forwarding || depth < 0)
        return depth;
    if (domain) {
        close_range(domain);
    } else {
        own.default_depth--;
        end_range(0);
    }
    return depth;
}

uint64_t nvtx_start(uint64_t range_id, const void *domain, const char *name)
{
    if (!range_id)
        range_id = new_range_id();
    begin_range(domain, name, range_id);
    return range_id;
}

void nvtx_end(uint64_t range_id)
{
    if (range_id)
        end_range(range_id);
}

void nvtx_mark(const char *text)
{
    if (!nvtx_forwarding)
        phases_mark(PHASE_SOURCE_NVTX, text);
}
