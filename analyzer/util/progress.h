/* SPDX-License-Identifier: MIT */
/*
 * Shows the progress of long work in one line on stderr, which is rewritten in place. The line
 * appears only if stderr is a terminal and more than a second has passed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "reading train.db"; the caller owns it */
    uint64_t begin_ns, shown_ns;
    bool is_watched; /* stderr is a terminal */
    bool is_shown;
};

struct progress progress_begin(const char *what);
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Erases the line. */
void progress_end(struct progress *progress);
