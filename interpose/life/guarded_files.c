/* SPDX-License-Identifier: MIT */
/*
 * Replaces the system calls of SQLite's default VFS that take a descriptor. See guarded_files.h.
 * The list needs no lock, because only one thread at a time is inside SQLite.
 */
#include "guarded_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/own_fd.h"

#define FILE_LIMIT 16 /* database, -wal, -shm, the folder, and a few more */

struct guarded_file {
    int fd; /* 0: free (own_fd_open returns no standard descriptor) */
    struct own_file file;
};

static struct guarded_file files[FILE_LIMIT];

static struct guarded_file *guarded_file_of(int fd)
{
    for (int i = 0; i < FILE_LIMIT; i++)
        if (files[i].fd == fd)
            return &files[i];
    return NULL;
}

/* Is this still SQLite's own file? A descriptor that did not fit in the list counts as SQLite's. */
static bool is_ours(int fd)
{
    const struct guarded_file *guarded = guarded_file_of(fd);
    if (!guarded || own_fd_is(fd, &guarded->file))
        return true;
    errno = EBADF;
    return false;
}

bool guarded_files_lost(void)
{
    for (int i = 0; i < FILE_LIMIT; i++)
        if (files[i].fd && !own_fd_is(files[i].fd, &files[i].file))
            return true;
    return false;
}

void guarded_files_forget(void)
{
    for (int i = 0; i < FILE_LIMIT; i++)
        if (files[i].fd && own_fd_is(files[i].fd, &files[i].file))
            close(files[i].fd);
    memset(files, 0, sizeof files);
}

static int guarded_open(const char *path, int flags, int mode)
{
    struct own_file file = {0};
    const int fd = own_fd_open(path, flags, (mode_t)mode, &file);
    struct guarded_file *guarded = fd > 0 ? guarded_file_of(fd) : NULL;
    if (fd > 0 && !guarded)
        guarded = guarded_file_of(0);
    if (guarded)
        *guarded = (struct guarded_file){fd, file};
    return fd;
}

static int guarded_close(int fd)
{
    struct guarded_file *guarded = guarded_file_of(fd);
    const bool ours = is_ours(fd);
    if (guarded)
        guarded->fd = 0;
    return ours ? close(fd) : 0;
}

/* SQLite always passes a third argument. */
static int guarded_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    const uintptr_t argument = va_arg(arguments, uintptr_t);
    va_end(arguments);
    return is_ours(fd) ? fcntl(fd, command, argument) : -1;
}

static void *guarded_mmap(void *address, size_t length, int protection, int flags, int fd,
                          off_t offset)
{
    return is_ours(fd) ? mmap(address, length, protection, flags, fd, offset) : MAP_FAILED;
}

static int guarded_fallocate(int fd, off_t offset, off_t length)
{
    return is_ours(fd) ? posix_fallocate(fd, offset, length) : EBADF;
}

/* Defines the guard of a system call that returns -1 on failure. */
#define GUARDED(type, name, parameters, arguments)                                                 \
    static type guarded_##name parameters                                                          \
    {                                                                                              \
        return is_ours(fd) ? name arguments : -1;                                                  \
    }

GUARDED(ssize_t, read, (int fd, void *bytes, size_t count), (fd, bytes, count))
GUARDED(ssize_t, pread, (int fd, void *bytes, size_t count, off_t offset),
        (fd, bytes, count, offset))
GUARDED(ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
GUARDED(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t offset),
        (fd, bytes, count, offset))
GUARDED(int, ftruncate, (int fd, off_t length), (fd, length))
GUARDED(int, fchmod, (int fd, mode_t mode), (fd, mode))
GUARDED(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))

#define BRIEF_US 2000

/* Without this function, SQLite would wait ten seconds for a lock that it cannot get because the
 * file was closed or the file system has no locks. The program's first call would also wait that
 * long. A shorter wait is enough, because readers of the trace hold their locks for less than
 * BRIEF_US. */
static int sleep_briefly(sqlite3_vfs *vfs, int duration_us)
{
    const int brief_us = duration_us < BRIEF_US ? duration_us : BRIEF_US;
    (void)vfs;
    usleep((useconds_t)brief_us);
    return brief_us;
}

void guarded_files_install(void)
{
    const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {
        {"open", (sqlite3_syscall_ptr)guarded_open},
        {"close", (sqlite3_syscall_ptr)guarded_close},
        {"read", (sqlite3_syscall_ptr)guarded_read},
        {"pread", (sqlite3_syscall_ptr)guarded_pread},
        {"pread64", (sqlite3_syscall_ptr)guarded_pread},
        {"write", (sqlite3_syscall_ptr)guarded_write},
        {"pwrite", (sqlite3_syscall_ptr)guarded_pwrite},
        {"pwrite64", (sqlite3_syscall_ptr)guarded_pwrite},
        {"ftruncate", (sqlite3_syscall_ptr)guarded_ftruncate},
        {"fallocate", (sqlite3_syscall_ptr)guarded_fallocate},
        {"fchmod", (sqlite3_syscall_ptr)guarded_fchmod},
        {"fchown", (sqlite3_syscall_ptr)guarded_fchown},
        {"fcntl", (sqlite3_syscall_ptr)guarded_fcntl},
        {"mmap", (sqlite3_syscall_ptr)guarded_mmap},
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (size_t i = 0; vfs && vfs->xSetSystemCall && i < sizeof calls / sizeof *calls; i++)
        vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call);
    if (vfs)
        vfs->xSleep = sleep_briefly;
}
