/* SPDX-License-Identifier: MIT */
/*
 * A terminal that shows lines and hears keys (ncurses). However it is left, it is as it was before: after a SIGKILL
 * a guard sees to that. It must not know what the lines say.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_SCREEN_H
#define GPUMEMTRACE_ANALYZER_LIVE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCREEN_NO_KEY = -1, SCREEN_RESIZED = -2 };

struct screen {
    size_t columns, rows; /* as of the last key */
    bool has_blocks;
};

/* false: stdin and stdout are no terminal that can do this. */
bool screen_open(struct screen *screen);
/* Lines that end with a line feed; one that begins with 1 is reversed, with 2 bold. */
void screen_show(const struct screen *screen, const char *lines);
/* Waits at most so long. */
int screen_key(struct screen *screen, uint64_t most_ns);
/* The signal that asks to end; 0: none. */
int screen_signal(void);
/* Raises that signal, if there was one. */
void screen_close(void);

#endif
