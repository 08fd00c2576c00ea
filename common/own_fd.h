/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that stay open in somebody else's process: where the program's own do not get their
 * numbers from, and never the standard ones, which it may have closed. It must not know what they
 * are open for.
 */
#ifndef GPUMEMTRACE_COMMON_OWN_FD_H
#define GPUMEMTRACE_COMMON_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* Which file a descriptor was opened for: one that was closed, and its number used again by the
 * program, is not ours any more. */
struct own_file {
    dev_t device;
    ino_t inode;
};

/* As open(), with O_CLOEXEC. -1: errno. */
int own_fd_open(const char *path, int flags, mode_t mode, struct own_file *file);
bool own_fd_is(int fd, const struct own_file *file);

/* Between the two, what a library of another makes of descriptors does not become the program's
 * standard ones. */
struct own_fd_guard {
    int held[3];
};
void own_fd_guard_begin(struct own_fd_guard *guard);
void own_fd_guard_end(const struct own_fd_guard *guard);

#endif
