/* SPDX-License-Identifier: MIT */
/*
 * What /proc says about a process: the recorder tells a dead one, and a reused pid, by it. It must
 * not know why anyone asks.
 */
#ifndef GPUMEMTRACE_COMMON_PROC_STAT_H
#define GPUMEMTRACE_COMMON_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char state; /* 'R', 'S' … 'Z': ended and not yet waited for */
    int64_t parent_pid;
    uint64_t start_ticks; /* clock ticks since boot: tells a reused pid apart */
    int wait_status;      /* as waitpid gives it, once the main thread has ended */
};

/* -1: no such process, or no /proc. */
int proc_stat_read(struct proc_stat *stat, int64_t pid);

/* Every thread but the calling one has ended, the main thread too. Opens no descriptor: another
 * thread may count on the number that it would take. */
bool proc_stat_is_last_thread(void);

#endif
