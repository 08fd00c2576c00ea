/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of ours that stay open in the program's process. They have high numbers, so that the
 * program's own descriptors get the same numbers as without the recorder. They are never 0, 1 or 2,
 * which the program may have closed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Identity of the file that a descriptor was opened for. It shows whether the program has closed
 * the descriptor since, and perhaps opened its own file under the same number. */
struct own_file {
    dev_t device;
    ino_t inode;
};

/* Is the limit on descriptors so low that ours would leave too few for the program? */
bool own_fd_too_few(void);

/* Calls open() with O_CLOEXEC and fills *file. Returns -1 and errno on failure. */
int own_fd_open(const char *path, int flags, mode_t mode, struct own_file *file);
bool own_fd_is(int fd, const struct own_file *file);

/* Between begin and end, descriptors that another library opens do not get the numbers 0, 1 and 2,
 * even if the program has closed these. */
struct own_fd_guard {
    int held[3];
};
void own_fd_guard_begin(struct own_fd_guard *guard);
void own_fd_guard_end(const struct own_fd_guard *guard);
