/* SPDX-License-Identifier: MIT */
/*
 * A terminal that shows lines and reads keys (ncurses). The terminal is restored however this
 * process ends. After a SIGKILL, the guard restores it (guard.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCREEN_NO_KEY = -1, SCREEN_RESIZED = -2 };

struct screen {
    size_t columns, rows; /* as of the last screen_key */
    bool has_blocks;
};

/* Returns false if stdin or stdout is no terminal, or one that cannot place the cursor. */
bool screen_open(struct screen *screen);
/* Each line ends with a line feed. A line that begins with byte 1 is reversed, with byte 2 bold. */
void screen_show(const struct screen *screen, const char *lines);
/* Waits at most most_ns. Returns a key, SCREEN_NO_KEY or SCREEN_RESIZED. */
int screen_key(struct screen *screen, uint64_t most_ns);
/* The last signal that asked this process to end; 0: none. */
int screen_signal(void);
/* Restores the terminal. Then raises the signal of screen_signal, if there is one. */
void screen_close(void);
