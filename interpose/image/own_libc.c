/* SPDX-License-Identifier: MIT */
/*
 * Defines functions of libc for calls from this library, including the calls from SQLite. These
 * functions bypass any tool that replaces libc's functions. Such a tool may fake times or file
 * attributes, which a trace must not have; and the tool no longer works after the destructors of
 * all libraries, when the trace is closed.
 *
 * The linker binds every call of these names inside this library to the definitions here, so
 * callers need no change. All rooms depend on this file, and it depends only on libc_function.h. Do
 * not link it into a program, because it would take the program's calls as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "libc_function.h"

/* Gives each function a C name of its own, because libc's headers may declare the real name
 * differently. */
#define OWN(type, name, parameters)                                                                \
    type own_##name parameters __asm__(#name);                                                     \
    type own_##name parameters

/* --- time --- */

typedef int clock_function(clockid_t clock, struct timespec *time);

/* Calls libc's function and makes no system call, because libc reads most clocks without a system
 * call. */
OWN(int, clock_gettime, (clockid_t clock, struct timespec *time))
{
    static _Atomic(void *) cached;
    void *real = atomic_load_explicit(&cached, memory_order_relaxed);
    if (GMT_UNLIKELY(!real)) {
        real = libc_function("clock_gettime");
        atomic_store_explicit(&cached, real, memory_order_relaxed);
    }
    return real ? GMT_FUNCTION(clock_function *, real)(clock, time)
                : (int)syscall(SYS_clock_gettime, clock, time);
}

OWN(int, gettimeofday, (struct timeval * time, void *zone))
{
    struct timespec now;
    const int result = own_clock_gettime(CLOCK_REALTIME, &now);
    (void)zone;
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return result;
}

OWN(time_t, time, (time_t * time))
{
    struct timespec now = {.tv_sec = -1};
    own_clock_gettime(CLOCK_REALTIME, &now);
    if (time)
        *time = now.tv_sec;
    return now.tv_sec;
}

OWN(int, usleep, (useconds_t duration_us))
{
    const struct timespec duration = {.tv_sec = duration_us / 1000000,
                                      .tv_nsec = (long)(duration_us % 1000000) * 1000};
    return (int)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &duration, NULL);
}

/* --- file attributes: libc's struct stat has the layout of the kernel's struct --- */

#define OWN_STAT(name, flags)                                                                      \
    OWN(int, name, (const char *path, struct stat *status))                                        \
    {                                                                                              \
        return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, flags);                        \
    }
#define OWN_FSTAT(name)                                                                            \
    OWN(int, name, (int fd, struct stat *status))                                                  \
    {                                                                                              \
        return (int)syscall(SYS_fstat, fd, status);                                                \
    }

OWN_STAT(stat, 0)
OWN_STAT(stat64, 0)
OWN_STAT(lstat, AT_SYMLINK_NOFOLLOW)
OWN_STAT(lstat64, AT_SYMLINK_NOFOLLOW)
OWN_FSTAT(fstat)
OWN_FSTAT(fstat64)
