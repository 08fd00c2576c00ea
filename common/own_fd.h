/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of ours that stay open in the program's process: with high numbers, so that the
 * program's own get the numbers they would get without us, and never 0, 1 or 2, which it may have
 * closed. It must not know what they are open for.
 */
#ifndef GPUMEMTRACE_COMMON_OWN_FD_H
#define GPUMEMTRACE_COMMON_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* The file that a descriptor was opened for: tells whether the program has closed it since, and
 * maybe opened a file of its own under the same number. */
struct own_file {
    dev_t device;
    ino_t inode;
};

/* Does the limit on descriptors leave too few for the program beside ours? */
bool own_fd_too_few(void);

/* As open(), with O_CLOEXEC. -1: errno. */
int own_fd_open(const char *path, int flags, mode_t mode, struct own_file *file);
bool own_fd_is(int fd, const struct own_file *file);

/* Between begin and end, descriptors that another library opens do not get the numbers 0, 1 and 2,
 * even where the program has closed these. */
struct own_fd_guard {
    int held[3];
};
void own_fd_guard_begin(struct own_fd_guard *guard);
void own_fd_guard_end(const struct own_fd_guard *guard);

#endif
