/* SPDX-License-Identifier: MIT */
/*
 * A small process that restores the terminal if this process is killed, because SIGKILL leaves this
 * process no time to do so.
 *
 *     this process ──── holds the writing end of a pipe, on which nothing is ever written
 *       └─ guard ────── reads it: the end of file says that this process is gone, for any reason
 *
 * The guard has its own session and blocks all signals but SIGALRM, so neither ^C nor a hang-up
 * ends it. It ends when this process ends, at most a few seconds later. A shell that waits for this
 * process may write to the terminal before or after the guard.
 */
#pragma once

#include <sys/types.h>
#include <termios.h>

struct guard {
    pid_t pid;    /* 0: there is no guard */
    int pipe_end; /* the writing end */
};

/* The terminal is stdout, and ncurses must have been started for it, because terminfo is used.
 * There is no guard if no process can be created. */
void guard_begin(struct guard *guard, const struct termios *settings);
/* Ends the guard, because this process has restored the terminal itself. */
void guard_end(struct guard *guard);
