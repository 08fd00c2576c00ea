/* SPDX-License-Identifier: MIT */
/*
 * What is live as lines of text: for a screen of any size, or one line a second. It must not know what they are
 * written to.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_PICTURE_H
#define GPUMEMTRACE_ANALYZER_LIVE_PICTURE_H

#include <stdio.h>

#include "live.h"

/* A line that begins with one of these is shown so. */
enum live_look_of_line { LIVE_REVERSE = 1, LIVE_BOLD = 2 };

struct live_picture {
    size_t columns, rows; /* of the screen */
    bool has_blocks;      /* as of a window */
    bool is_paused, shows_help;
    const char *message; /* what a key has done; NULL: nothing */
    const struct live_choice *choice;
};

/* `rows` lines, none wider than `columns`; the caller frees them. NULL: out of memory. */
char *live_picture(const struct live_picture *picture, const struct live_view *view,
                   struct err *err);

/* "running 12.3 s: device 0, pytorch pool: live 1.20 GiB, …", as a line. */
void live_plain_line(FILE *out, const struct live_view *view);

#endif
