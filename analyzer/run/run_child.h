/* SPDX-License-Identifier: MIT */
/*
 * Starts the recorded program and waits for it, as a shell does. It must not know what
 * is loaded into it: the environment is ready.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_CHILD_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_CHILD_H

#include <sys/types.h>

#include "gpumemtrace/err.h"

struct run_ended {
    int start_errno; /* why it could not be started; 0: it was */
    pid_t pid;
    int signal; /* that ended it; 0: none */
};

/*
 * Runs path with argv and the current environment, on the same stdin, stdout, stderr, process
 * group and terminal. Returns its exit status, 128+N if signal N ended it, or -1 and *err with
 * ended->start_errno if it could not be started.
 *
 * While it runs, signals that another process sends to this one are passed on. Those that the
 * terminal sends (^C, ^\) reach the program directly and are ignored here. Call once per process.
 */
int run_child(const char *path, char **argv, struct run_ended *ended, struct err *err);

#endif
