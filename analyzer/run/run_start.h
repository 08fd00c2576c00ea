/* SPDX-License-Identifier: MIT */
/* Connects a child with its parent from the fork to the child's end. If the child cannot become the
 * program, it writes the reason to a pipe. The parent reads the pipe and waits for the child's end.
 * The pipe is closed by a successful exec. */
#pragma once

#include "run_child.h"

/* The child calls this after a failure. Writes errno to the pipe and never returns. */
_Noreturn void run_start_failed(int pipe_fd);

/* The parent calls this. Fills all of *ended except pid. Returns the exit status, 128+N if signal N
 * ended the child, or -1 and errno. */
int run_start_wait(pid_t pid, int pipe_fd, struct run_ended *ended);
