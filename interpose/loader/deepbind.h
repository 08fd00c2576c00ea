/* SPDX-License-Identifier: MIT */
/*
 * RTLD_DEEPBIND makes a library find symbols among its own dependencies first, and so bypasses
 * every preloaded library. It must not know who opens what.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LOADER_DEEPBIND_H
#define GPUMEMTRACE_INTERPOSE_LOADER_DEEPBIND_H

#include <stdbool.h>

/* Would a dlopen of this library with RTLD_DEEPBIND bring in CUDA calls that bypass us? Reads
 * files; errno is kept. */
bool deepbind_hides_cuda(const char *path);

#endif
