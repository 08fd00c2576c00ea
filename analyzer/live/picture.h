/* SPDX-License-Identifier: MIT */
/* Writes a live_view as lines of text: for a screen of any size, or one line per second. */
#pragma once

#include <stdio.h>

#include "live.h"

/* A line that begins with one of these bytes is shown reversed or bold. */
enum live_look_of_line { LIVE_REVERSE = 1, LIVE_BOLD = 2 };

struct live_picture {
    size_t columns, rows; /* of the screen */
    bool has_blocks;      /* the terminal can show block characters (render/window.h) */
    bool is_paused, shows_help;
    const char *message; /* effect of the last key; NULL: none */
    const struct live_choice *choice;
};

/* Returns `rows` lines, none wider than `columns`; the caller frees them. NULL: out of memory. */
char *live_picture(const struct live_picture *picture, const struct live_view *view,
                   struct err *err);

/* Writes one line: "running 12.3 s: device 0, pytorch pool: live 1.20 GiB, …". */
void live_plain_line(FILE *out, const struct live_view *view);
