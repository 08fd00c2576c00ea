/* SPDX-License-Identifier: MIT */
/*
 * Stands between SQLite's default VFS and the system calls that change a file. See guarded_files.h.
 * Only one thread at a time is inside SQLite, so the list needs no lock.
 */
#include "guarded_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT 16 /* database, -wal, -shm, the folder; and some more */

struct guarded_file {
    int fd; /* 0: free place (SQLite never uses the standard descriptors) */
    dev_t device;
    ino_t inode;
};

static struct guarded_file files[FILE_LIMIT];

static struct guarded_file *find(int fd)
{
    for (int i = 0; i < FILE_LIMIT; i++)
        if (files[i].fd == fd)
            return &files[i];
    return NULL;
}

/* A descriptor that is not in the list was more than it holds: trusted. */
static bool is_ours(int fd)
{
    const struct guarded_file *file = find(fd);
    struct stat now;
    if (!file || (fstat(fd, &now) == 0 && now.st_dev == file->device && now.st_ino == file->inode))
        return true;
    errno = EBADF;
    return false;
}

static int guarded_open(const char *path, int flags, int mode)
{
    struct stat status;
    const int fd = open(path, flags, mode);
    struct guarded_file *place = fd > 0 ? find(fd) : NULL;
    if (fd > 0 && !place)
        place = find(0);
    if (place && fstat(fd, &status) == 0)
        *place = (struct guarded_file){fd, status.st_dev, status.st_ino};
    return fd;
}

static int guarded_close(int fd)
{
    struct guarded_file *file = find(fd);
    const bool ours = is_ours(fd);
    if (file)
        file->fd = 0;
    return ours ? close(fd) : 0;
}

static ssize_t guarded_write(int fd, const void *bytes, size_t count)
{
    return is_ours(fd) ? write(fd, bytes, count) : -1;
}

static ssize_t guarded_pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return is_ours(fd) ? pwrite(fd, bytes, count, offset) : -1;
}

static int guarded_ftruncate(int fd, off_t length)
{
    return is_ours(fd) ? ftruncate(fd, length) : -1;
}

static int guarded_fallocate(int fd, off_t offset, off_t length)
{
    return is_ours(fd) ? posix_fallocate(fd, offset, length) : EBADF;
}

void guarded_files_install(void)
{
    const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"open", (sqlite3_syscall_ptr)guarded_open},
        {"close", (sqlite3_syscall_ptr)guarded_close},
        {"write", (sqlite3_syscall_ptr)guarded_write},
        {"pwrite", (sqlite3_syscall_ptr)guarded_pwrite},
        {"pwrite64", (sqlite3_syscall_ptr)guarded_pwrite},
        {"ftruncate", (sqlite3_syscall_ptr)guarded_ftruncate},
        {"fallocate", (sqlite3_syscall_ptr)guarded_fallocate},
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (size_t i = 0; vfs && vfs->xSetSystemCall && i < sizeof calls / sizeof *calls; i++)
        vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
}
