/* SPDX-License-Identifier: MIT */
/*
 * The loader's search, done again with this library left out. See scope.h.
 *
 *     1. what the program started with, in the order of the loader's list: that is its global scope
 *     2. the calling object itself: a library with the static runtime inside exports it, too
 *     3. what was opened since, in the same order: the loader does not say what sees what
 *
 * A caller that is linked to one CUDA runtime is never given another one: NVIDIA's functions carry
 * the runtime's name as their version.
 */
#include "scope.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

#include "elf_image.h"
#include "image_list.h"
#include "gpumemtrace/compiler.h"

/* The end of the loader's list when the program started. NULL: it has not. */
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
    enum hook_api api;
    const struct link_map *own;
    const struct link_map *caller; /* NULL: not code of any object */
    const char *runtime;           /* the libcudart that the caller asks for, or NULL */
    bool genuine_only;             /* the caller is a tool that jumped here from our call of it */
    bool calls_on;                 /* the caller is a tool that calls the next one */
    void *found;
};

/* Not another tool that stands in for some functions, as this one does. */
static bool is_genuine(const struct link_map *image, enum hook_api api)
{
    return api == API_runtime ? elf_image_symbol(image, "__cudaRegisterFatBinary") != NULL
                              : elf_image_is(image, "libcuda.so");
}

static bool is_other_runtime(const struct query *query, const struct link_map *image)
{
    return query->runtime && elf_image_is(image, "libcudart") &&
           !elf_image_is(image, query->runtime);
}

static bool look_in(struct query *query, const struct link_map *image)
{
    if (image == query->own || (query->calls_on && image == query->caller))
        return false;
    void *function = elf_image_symbol(image, query->name);
    if (!function || is_other_runtime(query, image) ||
        (query->genuine_only && !is_genuine(image, query->api)))
        return false;
    query->found = function;
    return true;
}

/*
 * A tool that stands in for the function calls on to the next one, and must not get itself back.
 * When it jumped here, the return address is that of our own call of it.
 */
static const struct link_map *first_candidate(struct query *query)
{
    const struct link_map *caller = query->caller;
    query->genuine_only = caller && caller == query->own;
    if (!caller || caller == query->own)
        return _r_debug.r_map;
    query->runtime = query->api == API_runtime ? elf_image_needs(caller, "libcudart") : NULL;
    query->calls_on = elf_image_symbol(caller, query->name) && !is_genuine(caller, query->api);
    return query->calls_on ? caller->l_next : _r_debug.r_map;
}

static int search(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct query *query = argument;
    const struct link_map *last = atomic_load_explicit(&started_with, memory_order_relaxed);
    (void)info, (void)size;
    for (const struct link_map *image = first_candidate(query); image; image = image->l_next)
        if (look_in(query, image) ||
            (image == last && query->caller && look_in(query, query->caller)))
            return 1;
    return 1;
}

void *scope_function(enum hook hook, const void *caller)
{
    struct image_span span = {.image = NULL};
    struct query query = {
        .name = hook_rows[hook].name, .api = hook_rows[hook].api, .own = image_list_own()};
    image_list_of(caller, &span);
    query.caller = span.image;
    image_list_iterate(search, &query);
    return query.found;
}

bool scope_has(const char *name)
{
    struct query query = {.name = name, .own = image_list_own()};
    image_list_iterate(search, &query);
    return query.found != NULL;
}

/* No lock: libc and what is preloaded are never closed. */
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
