/* SPDX-License-Identifier: MIT */
/*
 * See own_fd.h.
 */
#include "own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* This number is above the numbers that programs close one by one. If the limit on descriptors is
 * lower, the highest numbers below the limit are used. */
#define OUT_OF_THE_WAY 600
#define OWN_MOST 12 /* database, -wal, -shm, ring, folder, and a few more */
#define LEAST_LIMIT 32

static rlim_t limit_of_process(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool own_fd_too_few(void)
{
    return limit_of_process() < LEAST_LIMIT;
}

static int least_number(void)
{
    const rlim_t limit = limit_of_process();
    if (limit >= OUT_OF_THE_WAY + OWN_MOST)
        return OUT_OF_THE_WAY;
    return limit < LEAST_LIMIT ? STDERR_FILENO + 1 : (int)limit - OWN_MOST;
}

static int move_up(int fd)
{
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, least_number());
    if (higher < 0 && fd <= STDERR_FILENO)
        higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else if (higher < 0)
        return fd;
    const int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return higher;
}

int own_fd_open(const char *path, int flags, mode_t mode, struct own_file *file)
{
    struct stat status;
    int fd = open(path, flags | O_CLOEXEC, mode);
    if (fd >= 0)
        fd = move_up(fd);
    if (fd >= 0 && fstat(fd, &status) == 0)
        *file = (struct own_file){status.st_dev, status.st_ino};
    return fd;
}

bool own_fd_is(int fd, const struct own_file *file)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

void own_fd_guard_begin(struct own_fd_guard *guard)
{
    for (int fd = 0; fd < 3; fd++) {
        guard->held[fd] = -1;
        if (fcntl(fd, F_GETFD) < 0)
            guard->held[fd] = open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

void own_fd_guard_end(const struct own_fd_guard *guard)
{
    for (int fd = 0; fd < 3; fd++)
        if (guard->held[fd] >= 0)
            close(guard->held[fd]);
}
