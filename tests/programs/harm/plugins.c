/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * A program without CUDA that opens libraries and calls functions in them. Each argument is
 * FLAGS:LIBRARY:FUNCTION, where FLAGS is local, global, deepbind or new (a namespace of its own).
 * The function has no parameter and returns an int, which is printed. The program has a function of
 * the same name, which a wrong lookup would find.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

typedef int plugin_function(void);

GMT_EXPORT int answer(void);

int answer(void)
{
    return -1;
}

static void *open_library(const char *flags, const char *path)
{
    if (strcmp(flags, "new") == 0)
        return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    if (strcmp(flags, "deepbind") == 0)
        return dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
    return dlopen(path, RTLD_NOW | (strcmp(flags, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
}

static int run(char *argument)
{
    const char *flags = strtok(argument, ":");
    const char *path = strtok(NULL, ":");
    const char *name = strtok(NULL, ":");
    void *library = path ? open_library(flags, path) : NULL;
    plugin_function *function =
        library && name ? GMT_FUNCTION(plugin_function *, dlsym(library, name)) : NULL;
    if (!function) {
        fprintf(stderr, "plugins: %s\n", dlerror());
        return 9;
    }
    printf("%s %d\n", name, function());
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < argc && !status; i++)
        status = run(argv[i]);
    return status ? status : 5;
}
