/* SPDX-License-Identifier: MIT */
/*
 * A library written at run time: a public name that leads to a stand-in, or functions. It lies in
 * memory, not on a disk.
 *
 *     page 0   | ELF header | program headers | DT_HASH | symbols | names | code |   read, execute
 *     page 1   | dynamic section |                                                    read, write
 *
 * The code of a function loads two addresses of this process and jumps. Functions have no version:
 * the loader takes such a definition for any version that is asked for, unless it is asked of this library's own
 * name; so a library with a public name has no functions.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_MADE_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_MADE_H

#include <stddef.h>

/* libc's dlopen. */
typedef void *dlopen_function(const char *path, int mode);

struct made_function {
    const char *name;
    const void *target;   /* where it jumps to … */
    const void *argument; /* … with this as first argument; NULL: with the caller's arguments */
};

/*
 * Loads a library of this SONAME into the global scope. needs: the SONAME of a loaded library, or NULL. dlopen_real: libc's.
 * 0, or -1.
 */
int made_load(const char *soname, const char *needs, const struct made_function *functions,
              size_t count, dlopen_function *dlopen_real);

#endif
