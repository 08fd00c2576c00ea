/* SPDX-License-Identifier: MIT */
/*
 * How far something that takes long has come: one line on stderr, rewritten in place, if stderr is a
 * terminal and more than a second has passed. It must not know what takes long.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_PROGRESS_H
#define GPUMEMTRACE_ANALYZER_UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "reading train.db"; the caller's */
    uint64_t begin_ns, shown_ns;
    bool is_watched; /* stderr is a terminal */
    bool is_shown;
};

struct progress progress_begin(const char *what);
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Leaves no line behind. */
void progress_end(struct progress *progress);

#endif
