/* SPDX-License-Identifier: MIT */
/* Starts the recorded program and waits for it, as a shell does. The environment must
 * already load the recorder. */
#pragma once

#include <sys/types.h>

#include "gpumemtrace/err.h"

struct run_ended {
    int start_errno; /* errno of a failed start; 0: it was started */
    pid_t pid;
    int signal; /* signal that ended it; 0: none */
};

/*
 * Runs path with argv and the current environment, on the same stdin, stdout, stderr, process group
 * and terminal. Returns its exit status, 128+N if signal N ended it, or -1 and *err with
 * ended->start_errno if it could not be started.
 *
 * While the program runs, signals that another process sends to this process are sent to the
 * program. Signals of the terminal (^C, ^\) reach the program directly and are ignored here. Call
 * once per process.
 */
int run_child(const char *path, char **argv, struct run_ended *ended, struct err *err);
