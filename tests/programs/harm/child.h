/* SPDX-License-Identifier: MIT */
/*
 * Waits for a child that may hang.
 */
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* This is less than TIMEOUT_S of tests/support/run.py, and far more than a child takes on a busy
   machine. */
#define CHILD_LIMIT_S 300

/* Waits for the child, and kills it if it hangs. Returns its exit status, 128 + the signal that
   ended it, or -1 if it hung. */
static inline int child_wait_patiently(pid_t child)
{
    const unsigned poll_us = 2000, patience_us = CHILD_LIMIT_S * 1000000u;
    int status;
    for (unsigned waited_us = 0; waited_us < patience_us; waited_us += poll_us) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        usleep(poll_us);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}
