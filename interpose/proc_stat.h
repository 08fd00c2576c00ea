/* SPDX-License-Identifier: MIT */
/*
 * What /proc/PID/stat says of a process. It must not know why anyone asks.
 */
#ifndef GPUMEMTRACE_INTERPOSE_PROC_STAT_H
#define GPUMEMTRACE_INTERPOSE_PROC_STAT_H

#include <stdint.h>

struct proc_stat {
    char state; /* 'R', 'S' … 'Z': ended, but nobody has asked how */
    int64_t parent_pid;
    uint64_t start_ticks; /* clock ticks since boot: tells a reused pid */
};

/* -1: there is no such process, or no /proc. */
int proc_stat_read(struct proc_stat *stat, int64_t pid);

#endif
