/* SPDX-License-Identifier: MIT */
/*
 * Reads the state of another thread of this process from /proc.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* Returns true if the thread sleeps, which here means that it waits for a lock. A `thread` of 0
   means that the thread has not begun. */
static inline bool thread_is_waiting(pid_t thread)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = thread ? fopen(path, "r") : NULL;
    if (file) {
        if (!fgets(line, sizeof line, file))
            line[0] = 0;
        fclose(file);
    }
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] && name_end[2] == 'S';
}
