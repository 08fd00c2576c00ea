/* SPDX-License-Identifier: MIT */
/*
 * Where names of native frames are looked for, and what was not found there. It must not know how.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_SOURCES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* In addition to the recorded paths and the system's usual folders. */
struct symbol_sources {
    const char *const *debug_dirs;
    int debug_dir_count;
    bool debuginfod; /* ask the servers that DEBUGINFOD_URLS names */
};

/* Modules with frames that stayed without a name, and the first of each kind. */
struct symbol_gaps {
    size_t missing_count, other_build_count;
    const char *missing, *other_build;
};

#endif
