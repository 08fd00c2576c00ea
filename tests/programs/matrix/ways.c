/* SPDX-License-Identifier: MIT */
/*
 * The ways in which a program finds functions. Each way fills the tables. A way calls a function
 * only if this function finds other functions. So a family is the first to call any function that
 * allocates.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "finders.h"
#include "gpumemtrace/compiler.h"

#define DRIVER_LIBRARY "libcuda.so.1"

static const char *linked(struct opened *opened, bool per_thread)
{
    opened->has_driver = matrix_linked_driver(&opened->driver, per_thread);
    opened->runtime_count = matrix_linked_runtime(&opened->runtimes[0], per_thread);
    return opened->has_driver ? NULL : "this program is linked to no driver";
}

static const char *open_linked(struct opened *opened)
{
    return linked(opened, false);
}

static const char *open_linked_12(struct opened *opened)
{
    return linked(opened, false);
}

static const char *open_linked_ptsz(struct opened *opened)
{
    return linked(opened, true);
}

/* Returns the name of the runtime's library, for ways that work with any runtime. */
static const char *any_runtime(void)
{
    const char *library = getenv("MATRIX_RUNTIME");
    return library ? library : "libcudart.so.13";
}

static const char *opened_libraries(struct opened *opened, int flags)
{
    struct finder finder = {.find = find_in_library};
    finder.library = dlopen(DRIVER_LIBRARY, RTLD_NOW | flags);
    if (!finder.library)
        return "the driver does not load";
    fill_driver(opened, &finder);
    finder.library = dlopen(any_runtime(), RTLD_NOW | flags);
    if (!finder.library)
        return "the runtime does not load";
    fill_runtime(opened, &finder);
    return NULL;
}

static const char *open_dlopen_local(struct opened *opened)
{
    return opened_libraries(opened, RTLD_LOCAL);
}

static const char *open_dlopen_deepbind(struct opened *opened)
{
    return opened_libraries(opened, RTLD_LOCAL | RTLD_DEEPBIND);
}

static const char *open_rtld_default(struct opened *opened)
{
    const struct finder finder = {.find = find_in_library, .library = RTLD_DEFAULT};
    if (!dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_GLOBAL) ||
        !dlopen(any_runtime(), RTLD_NOW | RTLD_GLOBAL))
        return "a library does not load";
    fill_driver(opened, &finder);
    fill_runtime(opened, &finder);
    return NULL;
}

static const char *open_rtld_next(struct opened *opened)
{
    const struct finder finder = {.find = find_in_library, .library = RTLD_NEXT};
    fill_driver(opened, &finder);
    fill_runtime(opened, &finder);
    return NULL;
}

/* The version is the library's SONAME. */
static const char *open_dlvsym(struct opened *opened)
{
    const struct finder finder = {.find = find_version,
                                  .version = any_runtime(),
                                  .library = dlopen(any_runtime(), RTLD_NOW | RTLD_LOCAL)};
    if (!finder.library)
        return "the runtime does not load";
    fill_runtime(opened, &finder);
    return NULL;
}

/* The plugin runs its families itself, because the result of a lookup can depend on the library
   that calls it. */
static const char *opened_plugin(struct opened *opened, const char *name, int flags)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, (size_t)(path + sizeof path - (slash ? slash + 1 : path)),
             "%s", name);
    void *library = dlopen(path, RTLD_NOW | flags);
    void *function = library ? dlsym(library, "matrix_plugin") : NULL;
    if (!function)
        return "the plugin does not load";
    opened->plugin = GMT_FUNCTION(matrix_plugin_run *, function);
    return NULL;
}

static const char *any_plugin(void)
{
    return strcmp(any_runtime(), "libcudart.so.12") ? "matrix_plugin.so" : "matrix_plugin12.so";
}

static const char *open_plugin(struct opened *opened)
{
    return opened_plugin(opened, any_plugin(), RTLD_LOCAL);
}

static const char *open_plugin_deepbind(struct opened *opened)
{
    return opened_plugin(opened, any_plugin(), RTLD_LOCAL | RTLD_DEEPBIND);
}

/* Returns the driver's own lookup function of this name, found as a runtime finds it. */
static void *driver_lookup(const char *symbol)
{
    void *library = dlopen(DRIVER_LIBRARY, RTLD_NOW);
    return library ? dlsym(library, symbol) : NULL;
}

static const char *looked_up(struct opened *opened, const struct finder *finder)
{
    if (!finder->lookup)
        return "the driver has no such lookup";
    fill_driver(opened, finder);
    return NULL;
}

static const char *open_lookup(struct opened *opened)
{
    return looked_up(opened, &(struct finder){.find = find_by_lookup,
                                              .lookup = driver_lookup("cuGetProcAddress_v2")});
}

static const char *open_lookup_v1(struct opened *opened)
{
    return looked_up(opened, &(struct finder){.find = find_by_lookup_v1,
                                              .lookup = driver_lookup("cuGetProcAddress")});
}

static const char *open_lookup_ptsz(struct opened *opened)
{
    return looked_up(opened, &(struct finder){.find = find_by_lookup,
                                              .lookup = driver_lookup("cuGetProcAddress_v2"),
                                              .per_thread = true});
}

static const char *open_lookup_of_lookup(struct opened *opened)
{
    struct finder finder = {.find = find_by_lookup, .lookup = driver_lookup("cuGetProcAddress_v2")};
    if (finder.lookup)
        finder.lookup = finder.find(&finder, "cuGetProcAddress_v2");
    return looked_up(opened, &finder);
}

static const char *entry_points(struct opened *opened, struct finder *finder)
{
    struct runtime_api *api = &opened->runtimes[0];
    matrix_linked_runtime(api, finder->per_thread);
    finder->lookup = finder->find == find_by_version
                         ? __extension__(void *) api->cudaGetDriverEntryPointByVersion
                         : __extension__(void *) api->cudaGetDriverEntryPoint;
    if (!api->cudaRuntimeGetVersion || api->cudaRuntimeGetVersion(&finder->runtime_version))
        return "the runtime has no version";
    return looked_up(opened, finder);
}

static const char *open_entry_point(struct opened *opened)
{
    return entry_points(opened, &(struct finder){.find = find_entry_point});
}

static const char *open_entry_point_ptsz(struct opened *opened)
{
    return entry_points(opened, &(struct finder){.find = find_entry_point, .per_thread = true});
}

static const char *open_by_version(struct opened *opened)
{
    return entry_points(opened, &(struct finder){.find = find_by_version});
}

static const char *open_by_version_ptsz(struct opened *opened)
{
    return entry_points(opened, &(struct finder){.find = find_by_version, .per_thread = true});
}

static const char *open_two_linked(struct opened *opened)
{
    opened->runtime_count = matrix_linked_runtime(&opened->runtimes[0], false);
    return opened_plugin(opened, "matrix_plugin12.so", RTLD_LOCAL);
}

static const char *open_two_opened(struct opened *opened)
{
    struct finder finder = {.find = find_in_library};
    finder.library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!finder.library)
        return "libcudart.so.12 does not load";
    fill_runtime(opened, &finder);
    finder.library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!finder.library)
        return "libcudart.so.13 does not load";
    fill_runtime(opened, &finder);
    return NULL;
}

/* --- by name --- */

struct way {
    const char *name;
    const char *(*open)(struct opened *opened);
};

static const struct way ways[] = {
#define WAY(name, program, apis, runtimes, text) {#name, open_##name},
#include "ways.def"
};

const char *matrix_open(const char *name, struct opened *opened)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return ways[i].open(opened);
    return "no such way";
}
