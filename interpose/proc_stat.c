/* SPDX-License-Identifier: MIT */
/*
 * See proc_stat.h.
 */
#include "proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_START = 22 };

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
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
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
    if (!start)
        return -1;
    stat->state = *state;
    stat->parent_pid = strtoll(parent, NULL, 10);
    stat->start_ticks = strtoull(start, NULL, 10);
    return 0;
}
