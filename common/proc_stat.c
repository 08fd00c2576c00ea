/* SPDX-License-Identifier: MIT */
/*
 * See proc_stat.h.
 */
#include "proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "numbers.h"

enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_START = 22, FIELD_STATUS = 52 };

/* Returns the field that is `count` fields later. Single spaces separate fields. */
static const char *skip_fields(const char *field, int count)
{
    while (field && count-- > 0) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return field;
}

static uint64_t number_at(const char *field)
{
    uint64_t number;
    digits_read(field, &number);
    return number;
}

int proc_stat_read(struct proc_stat *stat, int64_t pid)
{
    char path[64], text[1024];
    /* Read the main thread's file, which has the same fields, because qemu's user mode invents a
     * different /proc/PID/stat for the program that it runs. */
    snprintf(path, sizeof path, "/proc/%lld/task/%lld/stat", (long long)pid, (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    /* Field 2, the name in parentheses, may itself have spaces and parentheses. */
    const char *name_end = strrchr(text, ')');
    const char *state = skip_fields(name_end, 1);
    const char *parent = skip_fields(state, FIELD_PARENT - FIELD_STATE);
    const char *start = skip_fields(parent, FIELD_START - FIELD_PARENT);
    const char *status = skip_fields(start, FIELD_STATUS - FIELD_START);
    if (!start)
        return -1;
    stat->state = *state;
    stat->parent_pid = (int64_t)number_at(parent);
    stat->start_ticks = number_at(start);
    stat->wait_status = status ? (int)number_at(status) : 0;
    return 0;
}

/* A main thread that has ended stays listed until the process ends, but then its /proc/self/exe is
 * gone. */
bool proc_stat_is_last_thread(void)
{
    enum { LINKS_OF_A_FOLDER = 2, MAIN_AND_LAST = 2 };
    struct stat threads;
    char first;
    return stat("/proc/self/task", &threads) == 0 &&
           threads.st_nlink == LINKS_OF_A_FOLDER + MAIN_AND_LAST &&
           readlink("/proc/self/exe", &first, 1) < 0 && errno == ENOENT;
}
