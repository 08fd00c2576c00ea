/* SPDX-License-Identifier: MIT */
/*
 * Generates the libraries and functions of NVIDIA's that a library needs and that no loaded library
 * has.
 */
#pragma once

#include "made.h"

/*
 * Called before path is loaded. Reads the file and the libraries that it NEEDs, and generates the
 * libraries of NVIDIA's that are missing and their functions that no library defines, so that the
 * loader finds them. Skips files that it cannot read, because the loader reports them. caller: an
 * address in the code of the library that loads path. Thread-safe.
 */
void needs_prepare(const char *path, const void *caller, dlopen_function *dlopen_real);

/* Called before a library of NVIDIA's is opened by name. Afterwards a library with that name is
 * loaded. */
void needs_prepare_name(const char *soname, dlopen_function *dlopen_real);
