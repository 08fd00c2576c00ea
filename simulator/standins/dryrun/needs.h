/* SPDX-License-Identifier: MIT */
/*
 * What a library needs of NVIDIA's that nothing loaded has. It must not know what the stand-ins do.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_NEEDS_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_NEEDS_H

#include "made.h"

/*
 * Before path is loaded: reads it and what it NEEDs, and makes libraries for names of NVIDIA's that no
 * library has and for functions that none defines. The loader then finds them. Does nothing for
 * what it cannot read: the loader says it then. caller: code
 * of the library that loads it. Callable from any thread.
 */
void needs_prepare(const char *path, const void *caller, dlopen_function *dlopen_real);

/* A library of NVIDIA's by this name, opened without a file: it is loaded under the name from now on. */
void needs_prepare_name(const char *soname, dlopen_function *dlopen_real);

#endif
