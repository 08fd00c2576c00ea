/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Allocates inside a plugin, closes the plugin, opens another plugin in its place, and allocates
 * inside the second plugin:
 *
 *     stack_reload PLUGIN OTHER [naive]
 *
 * With "naive", it calls libc's dlclose instead of the recorder's. Prints "ADDRESS PLACE" for each
 * plugin: the address of the block, and the address of the plugin's function.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

typedef void run_function(void (*callback)(void));
typedef int close_function(void *handle);

static void *block;
static volatile int after; /* used after calls, to prevent tail calls */

static void allocate(void)
{
    cudaMalloc(&block, 4096);
    after++;
}

static GMT_NOINLINE int run_plugin(const char *path, close_function *close)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *run = plugin ? dlsym(plugin, "plugin_run") : NULL;
    if (!run)
        return -1;
    for (int i = 0; i < 3; i++)
        GMT_FUNCTION(run_function *, run)(allocate);
    printf("%lu %p\n", (unsigned long)block, run);
    fflush(stdout);
    return close(plugin);
}

int main(int argc, char **argv)
{
    close_function *close = dlclose;
    if (argc < 3)
        return 2;
    if (argc > 3 && strcmp(argv[3], "naive") == 0)
        close = GMT_FUNCTION(close_function *,
                             dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "dlclose"));
    return run_plugin(argv[1], close) || run_plugin(argv[2], close);
}
