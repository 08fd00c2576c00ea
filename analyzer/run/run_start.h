/* SPDX-License-Identifier: MIT */
/*
 * Between fork and the end of a child: it tells why it could not become the program, and its parent hears
 * that and waits. The pipe between them closes itself when exec succeeds. It must not know signals.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_START_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_START_H

#include "run_child.h"

/* In the child, when nothing came of it: tells errno, and never returns. */
_Noreturn void run_start_failed(int pipe_fd);

/* In the parent: fills all but ended->pid, and returns the exit status, 128+N if signal N ended it, or
 * -1 and errno. */
int run_start_wait(pid_t pid, int pipe_fd, struct run_ended *ended);

#endif
