/* SPDX-License-Identifier: MIT */
/* Places to search for names of native frames, and the modules that were not found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* These places are searched in addition to the recorded paths and the system's usual folders. */
struct symbol_sources {
    const char *const *debug_dirs;
    int debug_dir_count;
    bool debuginfod; /* query the servers in DEBUGINFOD_URLS */
};

/* Number of modules with unnamed frames, and the path of the first such module of each kind. */
struct symbol_gaps {
    size_t missing_count, other_build_count;
    const char *missing, *other_build;
};
