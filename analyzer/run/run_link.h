/* SPDX-License-Identifier: MIT */
/*
 * A way to a folder whose path the loader's variables cannot carry: they have no quotes (ld.so(8)). It must not
 * know what lies there.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_LINK_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_LINK_H

#include <limits.h>
#include <stdbool.h>

#include "gpumemtrace/err.h"

/* Whether LD_PRELOAD can carry the path. */
bool run_link_is_plain(const char *path);
/*
 * Replaces the absolute path by one that leads to the same file or folder through a link in a folder of this user's own in
 * TMPDIR, /tmp or /dev/shm. The link stays: programs that outlive `run` go through it, and the next run takes it again.
 */
int run_link_make(char path[PATH_MAX], bool is_folder, struct err *err);

#endif
