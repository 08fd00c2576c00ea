/* SPDX-License-Identifier: MIT */
/*
 * See proc_stat.h.
 */
#include "proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_START = 22, FIELD_STATUS = 52 };

/* From one field to a later one; fields are parted by single spaces. */
static const char *skip_fields(const char *field, int count)
{
    while (field && count-- > 0) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return field;
}

int proc_stat_read(struct proc_stat *stat, int64_t pid)
{
    char path[64], text[1024];
    /* Its main thread's, which says the same: for /proc/PID/stat of its own programs, qemu's user
     * mode makes up an answer that differs from what other processes are told. */
    snprintf(path, sizeof path, "/proc/%lld/task/%lld/stat", (long long)pid, (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    /* Field 2, the name in parentheses, may hold spaces and parentheses itself. */
    const char *name_end = strrchr(text, ')');
    const char *state = skip_fields(name_end, 1);
    const char *parent = skip_fields(state, FIELD_PARENT - FIELD_STATE);
    const char *start = skip_fields(parent, FIELD_START - FIELD_PARENT);
    const char *status = skip_fields(start, FIELD_STATUS - FIELD_START);
    if (!start)
        return -1;
    stat->state = *state;
    stat->parent_pid = strtoll(parent, NULL, 10);
    stat->start_ticks = strtoull(start, NULL, 10);
    stat->wait_status = status ? (int)strtol(status, NULL, 10) : 0;
    return 0;
}

/* A main thread that has ended stays in the list until the process does, but runs no program. */
bool proc_stat_is_last_thread(void)
{
    enum { LINKS_OF_A_FOLDER = 2, MAIN_AND_LAST = 2 };
    struct stat threads;
    char first;
    return stat("/proc/self/task", &threads) == 0 &&
           threads.st_nlink == LINKS_OF_A_FOLDER + MAIN_AND_LAST &&
           readlink("/proc/self/exe", &first, 1) < 0 && errno == ENOENT;
}
