/* SPDX-License-Identifier: MIT */
/* Between fork and the end of a child: through a pipe the child reports why it could not become the
 * program, and the parent reads that and waits. The pipe is closed by a successful exec. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_START_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_START_H

#include "run_child.h"

/* In the child, after a failure: writes errno to the pipe and never returns. */
_Noreturn void run_start_failed(int pipe_fd);

/* In the parent: fills all of *ended except pid. Returns the exit status, 128+N if signal N ended
 * the child, or -1 and errno. */
int run_start_wait(pid_t pid, int pipe_fd, struct run_ended *ended);

#endif
