/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * Makes libc calls fail: one call, or a call and all calls after it. This library is preloaded
 * before the recorder and replaces functions of libc. Calls from libgpumemtrace.so or libunwind.so
 * can fail; calls from elsewhere go to libc or the kernel as usual. In the command gpumemtrace,
 * calls from anywhere can fail, as the environment says:
 *
 *     FAULTS="GROUP NTH one|rest FILE"    GROUP: memory, files, threads or sqlite; the first 8
 *                                         bytes of FILE count the failures
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/harm/faults.h"
#include "gpumemtrace/compiler.h"

/* --- the plan --- */

#define RANGES_MAX 8

static struct {
    uintptr_t start, end;
} ranges[RANGES_MAX];
static _Atomic int range_count;
static bool from_anywhere;

static enum fault_group planned_group;
static long planned_nth;
static bool planned_rest;
static _Atomic long seen;
static _Atomic long *failed;

static int add_range(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (!strstr(info->dlpi_name, "libgpumemtrace.so") && !strstr(info->dlpi_name, "libunwind.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const int count = atomic_load(&range_count);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || count == RANGES_MAX)
            continue;
        ranges[count].start = info->dlpi_addr + part->p_vaddr;
        ranges[count].end = ranges[count].start + part->p_memsz;
        atomic_store(&range_count, count + 1);
    }
    return 0;
}

GMT_EXPORT faults_plan_function faults_plan;

void faults_plan(enum fault_group group, long nth, bool and_the_rest, _Atomic long *count)
{
    atomic_store(&range_count, 0);
    dl_iterate_phdr(add_range, NULL);
    failed = count;
    planned_group = group;
    planned_rest = and_the_rest;
    planned_nth = nth;
}

GMT_EXPORT faults_now_function faults_now;

bool faults_now(enum fault_group group)
{
    if (!planned_nth || group != planned_group)
        return false;
    const long number = ++seen;
    if (number != planned_nth && !(planned_rest && number > planned_nth))
        return false;
    ++*failed;
    return true;
}

static bool fails(enum fault_group group, const void *caller)
{
    if (from_anywhere)
        return faults_now(group);
    const uintptr_t from = (uintptr_t)caller;
    const int count = atomic_load_explicit(&range_count, memory_order_relaxed);
    for (int i = 0; i < count; i++)
        if (from >= ranges[i].start && from < ranges[i].end)
            return faults_now(group);
    return false;
}

/* --- the plan of the command --- */

static enum fault_group group_named(const char *name)
{
    static const char *const names[] = {"memory", "files", "threads", "sqlite"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum fault_group)i;
    _exit(9);
}

__attribute__((constructor)) static void plan_from_environment(void)
{
    const char *text = getenv("FAULTS");
    char group[16], mode[8], file[4096];
    long nth;
    if (!text || strcmp(program_invocation_short_name, "gpumemtrace") != 0)
        return;
    if (sscanf(text, "%15s %ld %7s %4095s", group, &nth, mode, file) != 4)
        _exit(9);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    void *shared = mmap(NULL, sizeof *failed, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || shared == MAP_FAILED)
        _exit(9);
    close(fd);
    from_anywhere = true;
    failed = shared;
    planned_group = group_named(group);
    planned_rest = strcmp(mode, "rest") == 0;
    planned_nth = nth;
}

/* --- memory --- */

GMT_EXPORT void *malloc(size_t bytes);
GMT_EXPORT void *calloc(size_t count, size_t bytes);
GMT_EXPORT void *realloc(void *block, size_t bytes);
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

#define FAIL(group, error, result)                                                                 \
    do {                                                                                           \
        if (fails(group, GMT_CALLER_ADDRESS())) {                                                  \
            errno = error;                                                                         \
            return result;                                                                         \
        }                                                                                          \
    } while (0)

void *malloc(size_t bytes)
{
    FAIL(FAULT_MEMORY, ENOMEM, NULL);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    FAIL(FAULT_MEMORY, ENOMEM, NULL);
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    FAIL(FAULT_MEMORY, ENOMEM, NULL);
    return __libc_realloc(block, bytes);
}

GMT_EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    FAIL(FAULT_MEMORY, ENOMEM, MAP_FAILED);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

GMT_EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
                        off_t offset)
{
    FAIL(FAULT_MEMORY, ENOMEM, MAP_FAILED);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

GMT_EXPORT int madvise(void *address, size_t bytes, int advice)
{
    FAIL(FAULT_MEMORY, ENOMEM, -1);
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

/* --- files --- */

#define FILE_CALL(type, name, parameters, error, call)                                             \
    GMT_EXPORT type name parameters;                                                               \
    type name parameters                                                                           \
    {                                                                                              \
        FAIL(FAULT_FILES, error, -1);                                                              \
        return (type)(call);                                                                       \
    }

/* The last argument of open and fcntl is optional. The kernel reads it only when it needs it. */
#define LAST_ARGUMENT(last, type, value)                                                           \
    va_list arguments;                                                                             \
    va_start(arguments, last);                                                                     \
    const type value = va_arg(arguments, type);                                                    \
    va_end(arguments)

#define OPEN(name)                                                                                 \
    GMT_EXPORT int name(const char *path, int flags, ...)                                          \
    {                                                                                              \
        LAST_ARGUMENT(flags, unsigned, mode);                                                      \
        FAIL(FAULT_FILES, EMFILE, -1);                                                             \
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                              \
    }

/* After ENOLCK, SQLite retries for seconds, and for ten seconds if the -shm file cannot be
   locked. The command may wait that long once, but the tests could not wait in each run. */
static bool is_lock_of_shm(int command, uintptr_t argument)
{
    return command == F_SETLK && ((const struct flock *)argument)->l_start >= 120 &&
           ((const struct flock *)argument)->l_start <= 128;
}

#define FCNTL(name)                                                                                \
    GMT_EXPORT int name(int fd, int command, ...)                                                  \
    {                                                                                              \
        LAST_ARGUMENT(command, uintptr_t, argument);                                               \
        if (!from_anywhere || !is_lock_of_shm(command, argument))                                  \
            FAIL(FAULT_FILES, from_anywhere ? EIO : ENOLCK, -1);                                   \
        return (int)syscall(SYS_fcntl, fd, command, argument);                                     \
    }

OPEN(open)
OPEN(open64)
FCNTL(fcntl)
FCNTL(fcntl64)

/* clang-format off */
FILE_CALL(ssize_t, read, (int fd, void *bytes, size_t count), EIO, syscall(SYS_read, fd, bytes, count))
FILE_CALL(ssize_t, pread, (int fd, void *bytes, size_t count, off_t offset), EIO, syscall(SYS_pread64, fd, bytes, count, offset))
FILE_CALL(ssize_t, pread64, (int fd, void *bytes, size_t count, off_t offset), EIO, syscall(SYS_pread64, fd, bytes, count, offset))
FILE_CALL(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t offset), ENOSPC, syscall(SYS_pwrite64, fd, bytes, count, offset))
FILE_CALL(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off_t offset), ENOSPC, syscall(SYS_pwrite64, fd, bytes, count, offset))
FILE_CALL(int, ftruncate, (int fd, off_t length), EFBIG, syscall(SYS_ftruncate, fd, length))
FILE_CALL(int, ftruncate64, (int fd, off_t length), EFBIG, syscall(SYS_ftruncate, fd, length))
FILE_CALL(int, access, (const char *path, int mode), EACCES, syscall(SYS_faccessat, AT_FDCWD, path, mode))
FILE_CALL(int, fdatasync, (int fd), EIO, syscall(SYS_fdatasync, fd))
FILE_CALL(int, mkdir, (const char *path, mode_t mode), ENOSPC, syscall(SYS_mkdirat, AT_FDCWD, path, mode))
FILE_CALL(int, rmdir, (const char *path), EROFS, syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR))
FILE_CALL(ssize_t, readlink, (const char *path, char *bytes, size_t count), EIO, syscall(SYS_readlinkat, AT_FDCWD, path, bytes, count))
FILE_CALL(int, stat, (const char *path, struct stat *status), EIO, syscall(SYS_newfstatat, AT_FDCWD, path, status, 0))
FILE_CALL(int, fstat, (int fd, struct stat *status), EIO, syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH))
FILE_CALL(int, pipe2, (int ends[2], int flags), EMFILE, syscall(SYS_pipe2, ends, flags))
FILE_CALL(int, fchmod, (int fd, mode_t mode), EPERM, syscall(SYS_fchmod, fd, mode))
/* clang-format on */

/* Removing a file fails only in the command, because a recorder that cannot remove its files
   leaves them behind. */
GMT_EXPORT int unlink(const char *path)
{
    if (from_anywhere)
        FAIL(FAULT_FILES, EROFS, -1);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* The recorder's writes to stderr do not fail. */
GMT_EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd != STDERR_FILENO)
        FAIL(FAULT_FILES, ENOSPC, -1);
    return syscall(SYS_write, fd, bytes, count);
}

GMT_EXPORT int posix_fallocate(int fd, off_t offset, off_t length)
{
    const int saved_errno = errno;
    if (fails(FAULT_FILES, GMT_CALLER_ADDRESS()))
        return ENOSPC;
    const int result = syscall(SYS_fallocate, fd, 0, offset, length) == 0 ? 0 : errno;
    errno = saved_errno;
    return result;
}

/* --- threads --- */

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *argument);
typedef int create_key_function(pthread_key_t *key, void (*destructor)(void *));

GMT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument)
{
    create_function *real = GMT_FUNCTION(create_function *, dlsym(RTLD_NEXT, "pthread_create"));
    if (fails(FAULT_THREADS, GMT_CALLER_ADDRESS()))
        return EAGAIN;
    return real ? real(thread, attributes, start, argument) : EAGAIN;
}

GMT_EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    create_key_function *real =
        GMT_FUNCTION(create_key_function *, dlsym(RTLD_NEXT, "pthread_key_create"));
    if (fails(FAULT_THREADS, GMT_CALLER_ADDRESS()))
        return EAGAIN;
    return real ? real(key, destructor) : EAGAIN;
}
