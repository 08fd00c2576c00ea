/* SPDX-License-Identifier: MIT */
/*
 * Recognizes libraries for which RTLD_DEEPBIND must be removed. With this flag a library searches
 * symbols in its own dependencies first, which bypasses every preloaded library.
 */
#pragma once

#include <stdbool.h>

/* Would a dlopen of this library with RTLD_DEEPBIND bring in CUDA calls that bypass the recorder?
 * Reads files. Keeps errno. */
bool deepbind_hides_cuda(const char *path);
