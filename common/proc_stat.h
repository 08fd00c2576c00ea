/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/PID/stat, by which the recorder recognizes a dead process and a reused pid.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char state; /* 'R', 'S' … 'Z': ended and not yet waited for */
    int64_t parent_pid;
    uint64_t start_ticks; /* clock ticks since boot; shows that a pid was reused */
    int wait_status;      /* as from waitpid, once the main thread has ended */
};

/* -1: the process does not exist, or /proc is not mounted. */
int proc_stat_read(struct proc_stat *stat, int64_t pid);

/* Have all threads but the calling one ended, including the main thread? Opens no descriptor,
 * because another thread may rely on the next free number. */
bool proc_stat_is_last_thread(void);
