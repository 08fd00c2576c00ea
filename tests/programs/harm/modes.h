/* SPDX-License-Identifier: MIT */
/*
 * The modes of a test program. MODE(function, "name") { ... } defines a function that returns the
 * exit status, and adds it to the list under that name. run_mode runs the one that argv[1] names.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODES_MAX = 64 };

static struct mode {
    const char *name;
    int (*run)(void);
} modes[MODES_MAX];
static size_t mode_count;

static inline void mode_add(const char *name, int (*run)(void))
{
    if (mode_count == MODES_MAX)
        abort();
    modes[mode_count++] = (struct mode){name, run};
}

static inline int run_mode(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < mode_count; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run();
    fprintf(stderr, "%s: no such mode\n", argv[0]);
    return 9;
}

#define MODE(function, name)                                                                       \
    static int function(void);                                                                     \
    __attribute__((constructor)) static void add_##function(void)                                  \
    {                                                                                              \
        mode_add(name, function);                                                                  \
    }                                                                                              \
    static int function(void)
