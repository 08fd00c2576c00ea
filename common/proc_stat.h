/* SPDX-License-Identifier: MIT */
/*
 * What /proc says of a process. It must not know why anyone asks.
 */
#ifndef GPUMEMTRACE_COMMON_PROC_STAT_H
#define GPUMEMTRACE_COMMON_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char state; /* 'R', 'S' … 'Z': ended, but nobody has asked how */
    int64_t parent_pid;
    uint64_t start_ticks; /* clock ticks since boot: tells a reused pid */
    int wait_status;      /* as waitpid gives it, once the main thread has ended */
};

/* -1: there is no such process, or no /proc. */
int proc_stat_read(struct proc_stat *stat, int64_t pid);

/* The main thread has ended, and all others but the calling one. Takes no descriptor, whose number
 * another thread might be waiting for. */
bool proc_stat_is_last_thread(void);

#endif
