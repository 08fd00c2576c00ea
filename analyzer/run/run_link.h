/* SPDX-License-Identifier: MIT */
/* Makes links to paths that the loader's variables cannot carry. The variables have no way to quote
 * blanks and colons (ld.so(8)). */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "gpumemtrace/err.h"

/* Returns whether LD_PRELOAD can carry the path. */
bool run_link_is_plain(const char *path);
/* Replaces the absolute path by one that leads to the same file or folder through a link, in this
 * user's own folder in TMPDIR, /tmp or /dev/shm. The link is not removed: programs that outlive
 * `run` still use it, and so does the next run. */
int run_link_make(char path[PATH_MAX], bool is_folder, struct err *err);
