/* SPDX-License-Identifier: MIT */
/*
 * Hides from the program a signal that our own writes may raise (SIGPIPE, SIGXFSZ). The signal is
 * blocked on this thread while we write, and consumed if it came. If the signal was already pending
 * before, it stays pending.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct quiet_signal {
    sigset_t signal, before;
    bool was_pending;
};

static inline void quiet_signal_begin(struct quiet_signal *quiet, int number)
{
    sigset_t pending;
    sigemptyset(&quiet->signal);
    sigaddset(&quiet->signal, number);
    pthread_sigmask(SIG_BLOCK, &quiet->signal, &quiet->before);
    quiet->was_pending = sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

static inline void quiet_signal_end(struct quiet_signal *quiet)
{
    const struct timespec at_once = {0, 0};
    if (!quiet->was_pending)
        sigtimedwait(&quiet->signal, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}
