/* SPDX-License-Identifier: MIT */
/*
 * A library that is generated at run time in memory: either a public name for a stand-in, or
 * functions.
 *
 *     page 0   | ELF header | program headers | DT_HASH | symbols | names | code |   read, execute
 *     page 1   | dynamic section |                                                    read, write
 *
 * The code of a function loads two addresses of this process and jumps. Functions have no version,
 * because the loader then uses them for any version, except in a library whose own name a program
 * needs with a version. So a library with a public name has no functions.
 */
#pragma once

#include <stddef.h>

/* libc's dlopen. */
typedef void *dlopen_function(const char *path, int mode);

struct made_function {
    const char *name;
    const void *target;   /* the code jumps to target … */
    const void *argument; /* … with argument first; NULL: with the caller's arguments */
};

/*
 * Loads a library with this SONAME into the global scope. needs: the SONAME of a loaded library, or
 * NULL. 0; -1: failure.
 */
int made_load(const char *soname, const char *needs, const struct made_function *functions,
              size_t count, dlopen_function *dlopen_real);
