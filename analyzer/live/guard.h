/* SPDX-License-Identifier: MIT */
/*
 * A small process that puts a terminal back as it was when this one was killed (SIGKILL leaves no time for that).
 *
 *     this process ──── holds the writing end of a pipe, on which nothing is ever written
 *       └─ guard ────── reads it: the end of file says that this process is gone, however that came
 *
 * In a session of its own and with all signals blocked it hears neither ^C nor a hang-up. It ends with this process,
 * at the latest a few seconds after. Which of the guard and a shell that waits for this process writes first is open.
 * It must not know what the terminal shows.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_GUARD_H
#define GPUMEMTRACE_ANALYZER_LIVE_GUARD_H

#include <sys/types.h>
#include <termios.h>

struct guard {
    pid_t pid;    /* 0: there is none */
    int pipe_end; /* ours */
};

/* The terminal is stdout, and the current one of terminfo. Where no process can be made there is no guard. */
void guard_begin(struct guard *guard, const struct termios *settings);
/* This process has put the terminal back itself. */
void guard_end(struct guard *guard);

#endif
