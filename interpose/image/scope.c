/* SPDX-License-Identifier: MIT */
/*
 * Continues the loader's symbol search after this library. See scope.h. If a call reaches one of
 * our exports by name, then no object before this library defines the name, or such a definition
 * has made the call. After our definition, the search continues in this order:
 *
 *     1. the objects that the program started with, in the order of the loader's list: its global
 *        scope
 *     2. the calling object itself, if it was opened later: a library that contains the static
 *        runtime exports the runtime's functions, too
 *     3. the objects that were opened later, in the same order, because the loader does not tell
 *        which object sees which
 *
 * A caller that is linked to one CUDA runtime never gets another one, because the version of
 * NVIDIA's functions is the runtime's name.
 */
#include "scope.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

#include "elf_image.h"
#include "gpumemtrace/compiler.h"
#include "image_list.h"

/* The last object of the loader's list when the program started; NULL before that. */
static _Atomic(const struct link_map *) started_with;

static int find_last(struct dl_phdr_info *info, size_t size, void *argument)
{
    const struct link_map **last = argument;
    (void)info, (void)size;
    for (*last = _r_debug.r_map; *last && (*last)->l_next;)
        *last = (*last)->l_next;
    return 1;
}

__attribute__((constructor)) static void remember_start(void)
{
    const struct link_map *last = NULL;
    image_list_iterate(find_last, &last);
    atomic_store_explicit(&started_with, last, memory_order_relaxed);
}

struct query {
    const char *name;
    const struct link_map *own;
    const struct link_map *caller; /* NULL: the caller is not in an object */
    const char *runtime;           /* the libcudart that the caller needs; NULL: none */
    void *found;
};

static bool is_other_runtime(const struct query *query, const struct link_map *image)
{
    return query->runtime && elf_image_is(image, "libcudart") &&
           !elf_image_is(image, query->runtime);
}

static bool look_in(struct query *query, const struct link_map *image)
{
    void *function = image == query->own ? NULL : elf_image_symbol(image, query->name);
    if (!function || is_other_runtime(query, image))
        return false;
    query->found = function;
    return true;
}

static bool comes_after(const struct link_map *image, const struct link_map *last)
{
    while (last && last != image)
        last = last->l_next;
    return last != NULL;
}

static int search(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct query *query = argument;
    const struct link_map *last = atomic_load_explicit(&started_with, memory_order_relaxed);
    const struct link_map *image = query->own;
    (void)info, (void)size;
    if (query->caller)
        query->runtime = elf_image_needs(query->caller, "libcudart");
    for (; image; image = image->l_next)
        if (look_in(query, image) ||
            (image == last && query->caller && comes_after(query->caller, last) &&
             look_in(query, query->caller)))
            return 1;
    return 1;
}

void *scope_function(const char *name, const void *caller)
{
    struct image_span span = {.image = NULL};
    struct query query = {.name = name, .own = image_list_own()};
    if (caller)
        image_list_of(caller, &span);
    query.caller = span.image;
    image_list_iterate(search, &query);
    return query.found;
}

static int search_all(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct query *query = argument;
    const struct link_map *image = _r_debug.r_map;
    (void)info, (void)size;
    while (image && (image == query->caller || !look_in(query, image)))
        image = image->l_next;
    return 1;
}

bool scope_has(const char *name, const void *besides)
{
    struct image_span span = {.image = NULL};
    struct query query = {.name = name, .own = image_list_own()};
    if (besides)
        image_list_of(besides, &span);
    query.caller = span.image;
    image_list_iterate(search_all, &query);
    return query.found != NULL;
}

struct others {
    const char *name;
    const void *function;
    bool found;
};

static int search_others(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct others *others = argument;
    const struct link_map *own = image_list_own(), *image = _r_debug.r_map;
    (void)info, (void)size;
    for (; image && !others->found; image = image->l_next) {
        const void *other = image == own ? NULL : elf_image_symbol(image, others->name);
        others->found = other && other != others->function;
    }
    return 1;
}

bool scope_is_only(const char *name, const void *function)
{
    struct others others = {.name = name, .function = function};
    image_list_iterate(search_others, &others);
    return !others.found;
}

/* Takes no lock, because libc and preloaded libraries are never closed. */
void *scope_next(const char *name)
{
    const struct link_map *image = image_list_own();
    void *function = NULL;
    while (image && !function && (image = image->l_next))
        function = elf_image_symbol(image, name);
    for (image = _r_debug.r_map; image && !function; image = image->l_next)
        if (image != image_list_own())
            function = elf_image_symbol(image, name);
    return function;
}

const char *scope_before(const char *name)
{
    const struct link_map *own = image_list_own();
    for (const struct link_map *image = _r_debug.r_map; image && image != own;
         image = image->l_next)
        if (elf_image_symbol(image, name))
            return image->l_name;
    return NULL;
}
