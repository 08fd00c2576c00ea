/* SPDX-License-Identifier: MIT */
/* link: cudart13 dl */
/*
 * Opens and closes the given plugins, each of which allocates: harm_plugins PLUGIN… Prints the
 * plugins' results, and when their destructors run.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "gpumemtrace/compiler.h"

typedef int plugin_function(void);

/* `left` counts the mappings that remain. It is 0 if the library has really been unloaded. */
static int use(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin_function *run =
        plugin ? GMT_FUNCTION(plugin_function *, dlsym(plugin, "plugin_run")) : NULL;
    if (!run)
        return 9;
    printf("ran: %d\n", run());
    printf("closed: %d\n", dlclose(plugin));
    plugin = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    printf("still there: %s\n", plugin ? "yes" : "no");
    return 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 1; i < argc; i++)
            if (use(argv[i]) != 0)
                return 9;
    return 5;
}
