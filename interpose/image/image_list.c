/* SPDX-License-Identifier: MIT */
/*
 * The loader's list, and dl_iterate_phdr. See image_list.h.
 */
#include "image_list.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "elf_image.h"
#include "gpumemtrace/compiler.h"
#include "libc_function.h"

const struct link_map *image_list_find(const char *prefix, const struct link_map *after)
{
    const struct link_map *image = after ? after->l_next : _r_debug.r_map;
    for (; image; image = image->l_next)
        if (elf_image_is(image, prefix))
            return image;
    return NULL;
}

const struct link_map *image_list_own(void)
{
    const struct link_map *image = _r_debug.r_map;
    while (image && image->l_ld != _DYNAMIC)
        image = image->l_next;
    return image;
}

/* --- reading the list while no thread changes it --- */

/* dl_iterate_phdr holds the lock under which the loader changes its list. If a thread forked while
 * another thread held this lock, no thread of the child would ever release it. So a fork waits
 * until no thread is inside dl_iterate_phdr. The wait has a limit, because the forking thread
 * itself may be inside. */
#define FORK_WAIT_NS 1000000000

static _Atomic unsigned walkers;
static _Atomic bool forking;

static void walk_begin(void)
{
    /* Sequentially consistent, like the two accesses of a fork, so that at least one of the two
     * sides sees the other's store. */
    while (atomic_fetch_add(&walkers, 1), atomic_load(&forking)) {
        atomic_fetch_sub(&walkers, 1);
        sched_yield();
    }
}

static void walk_end(void)
{
    atomic_fetch_sub(&walkers, 1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void image_list_before_fork(void)
{
    const int64_t end = now_ns() + FORK_WAIT_NS;
    atomic_store(&forking, true);
    while (atomic_load(&walkers) && now_ns() < end)
        sched_yield();
}

void image_list_after_fork(bool in_child)
{
    if (in_child)
        atomic_store(&walkers, 0);
    atomic_store(&forking, false);
}

typedef int iterate_function(image_list_visit *visit, void *argument);

/* libc's own function, because a sanitizer's version would need functions that our dlsym has not
 * found for it yet. */
static iterate_function *real_iterate(void)
{
    static _Atomic(void *) cached;
    void *real = atomic_load_explicit(&cached, memory_order_relaxed);
    if (!real) {
        real = libc_function("dl_iterate_phdr");
        atomic_store_explicit(&cached, real, memory_order_relaxed);
    }
    return GMT_FUNCTION(iterate_function *, real);
}

void image_list_iterate(image_list_visit *visit, void *argument)
{
    iterate_function *iterate = real_iterate();
    if (!iterate)
        return;
    walk_begin();
    iterate(visit, argument);
    walk_end();
}

struct named {
    const char *prefix;
    const struct link_map *image;
};

static int search_named(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct named *named = argument;
    (void)info, (void)size;
    named->image = image_list_find(named->prefix, NULL);
    return 1;
}

const struct link_map *image_list_find_anywhere(const char *prefix)
{
    struct named named = {prefix, NULL};
    image_list_iterate(search_named, &named);
    return named.image;
}

struct function_search {
    const char *prefix, *name;
    void *found;
};

static int search_function(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct function_search *search = argument;
    const struct link_map *image = NULL;
    (void)info, (void)size;
    while (!search->found && (image = image_list_find(search->prefix, image)))
        search->found = elf_image_symbol(image, search->name);
    return 1;
}

void *image_list_search_function(_Atomic(void *) *cached, const char *prefix, const char *name)
{
    struct function_search search = {.prefix = prefix, .name = name};
    image_list_iterate(search_function, &search);
    atomic_store_explicit(cached, search.found, memory_order_relaxed);
    return search.found;
}

struct search {
    uintptr_t address;
    struct image_span *span;
    bool found;
};

static bool span_contains(const struct dl_phdr_info *info, uintptr_t address,
                          struct image_span *span)
{
    bool inside = false;
    *span = (struct image_span){.start = UINTPTR_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        inside = inside || (address >= start && address < end);
        span->start = start < span->start ? start : span->start;
        span->end = end > span->end ? end : span->end;
    }
    return inside;
}

static int search_span(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    struct image_span span;
    (void)size;
    if (!span_contains(info, search->address, &span))
        return 0;
    for (const struct link_map *image = _r_debug.r_map; image; image = image->l_next) {
        const uintptr_t dynamic = (uintptr_t)image->l_ld;
        if (image->l_addr != info->dlpi_addr || dynamic < span.start || dynamic >= span.end)
            continue;
        span.image = image;
        *search->span = span;
        search->found = true;
        break;
    }
    return 1;
}

bool image_list_of(const void *address, struct image_span *span)
{
    struct search search = {.address = (uintptr_t)address, .span = span};
    image_list_iterate(search_span, &search);
    return search.found;
}
