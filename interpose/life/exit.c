/* SPDX-License-Identifier: MIT */
/*
 * The functions that end a process: exit, return from main, _exit, quick_exit, daemon, exec. Each
 * marks the moment, closes the trace if nothing can be recorded later, and calls the real function.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "end.h"
#include "exit_moment.h"
#include "gpumemtrace/compiler.h"
#include "interpose/image/scope.h"

/* The next definition after ours, which belongs to libc or to another tool between this library and
 * libc. */
#define REAL(name) GMT_FUNCTION(name##_function *, scope_next(#name))

/* --- exit --- */

typedef void exit_function(int status);
typedef exit_function _exit_function, _Exit_function, quick_exit_function;
typedef int main_function(int argc, char **argv, char **environment);
typedef int __libc_start_main_function(main_function *main, int argc, char **argv,
                                       void (*init)(void), void (*fini)(void),
                                       void (*rtld_fini)(void), void *stack_end);

static void end_now(enum exit_reason reason)
{
    const int saved_errno = errno;
    exit_moment_mark(reason);
    recording_end();
    errno = saved_errno;
}

static main_function *real_main;
static void (*finish_libraries)(void);
static bool ends_after_handlers; /* true if quick_exit will call end_by_quick_exit */

static int main_that_marks_exit(int argc, char **argv, char **environment)
{
    const int status = real_main(argc, argv, environment);
    exit_moment_leave(status);
    exit_moment_mark(EXIT_BY_EXIT);
    return status;
}

static void end_by_exit(void)
{
    end_now(EXIT_BY_EXIT);
}

static void end_by_quick_exit(void)
{
    end_now(EXIT_BY__EXIT);
}

/* libc calls this function after all exit handlers; it runs the destructors of all libraries. */
static void finish_libraries_and_end(void)
{
    finish_libraries();
    end_by_exit();
}

GMT_EXPORT __libc_start_main_function __libc_start_main;

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    real_main = main;
    finish_libraries = rtld_fini;
    ends_after_handlers = at_quick_exit(end_by_quick_exit) == 0;
    return REAL(__libc_start_main)(main_that_marks_exit, argc, argv, init, fini,
                                   rtld_fini ? finish_libraries_and_end : NULL, stack_end);
}

/* Ends the process even if libc's function is not found. */
static void leave(int status) __attribute__((noreturn));

static void leave(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

#define EXIT_HOOK(name, before)                                                                    \
    GMT_EXPORT void name(int status)                                                               \
    {                                                                                              \
        name##_function *real = REAL(name);                                                        \
        exit_moment_leave(status);                                                                 \
        before;                                                                                    \
        if (real)                                                                                  \
            real(status);                                                                          \
        leave(status);                                                                             \
    }

EXIT_HOOK(exit, exit_moment_mark(EXIT_BY_EXIT))
EXIT_HOOK(_exit, end_now(EXIT_BY__EXIT))
EXIT_HOOK(_Exit, end_now(EXIT_BY__EXIT))
EXIT_HOOK(quick_exit, ends_after_handlers ? exit_moment_mark(EXIT_BY__EXIT) : end_by_quick_exit())

typedef int daemon_function(int stays_in_folder, int keeps_files);
GMT_EXPORT daemon_function daemon;

int daemon(int stays_in_folder, int keeps_files)
{
    daemon_function *real = REAL(daemon);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    recording_end_at_fork(true);
    const int result = real(stays_in_folder, keeps_files);
    recording_end_at_fork(false);
    return result;
}

/* If our __libc_start_main was not called, this destructor is our last code to run; destructors of
 * other libraries may follow. */
__attribute__((destructor)) static void end_with_the_library(void)
{
    if (!finish_libraries)
        end_by_exit();
}

/* --- exec --- */

/* The trace is completed before an exec, because nothing of ours runs after one that succeeds. If
 * the path is not executable, the exec will fail, so the trace is not completed for it. A program
 * may try an exec in each folder of PATH, and must not pay for a commit each time. */
static bool before_exec(const char *path)
{
    const int saved_errno = errno;
    const bool noted =
        (!path || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0) && recording_before_exec();
    errno = saved_errno;
    return noted;
}

static void after_failed_exec(bool noted)
{
    const int saved_errno = errno;
    if (noted)
        recording_exec_failed();
    errno = saved_errno;
}

#define EXEC_HOOK(name, parameters, arguments, path)                                               \
    typedef int name##_function parameters;                                                        \
    GMT_EXPORT int name parameters                                                                 \
    {                                                                                              \
        name##_function *real = REAL(name);                                                        \
        int result = -1;                                                                           \
        if (!real) {                                                                               \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        const bool noted = before_exec(path);                                                      \
        result = real arguments;                                                                   \
        after_failed_exec(noted);                                                                  \
        return result;                                                                             \
    }

typedef char *const *strings;

/* Returns NULL if the file is searched in PATH, because its path is unknown here. */
static const char *if_path(const char *file)
{
    return file && strchr(file, '/') ? file : NULL;
}

EXEC_HOOK(execve, (const char *path, strings argv, strings environment), (path, argv, environment),
          path)
EXEC_HOOK(execv, (const char *path, strings argv), (path, argv), path)
EXEC_HOOK(execvp, (const char *file, strings argv), (file, argv), if_path(file))
EXEC_HOOK(execvpe, (const char *file, strings argv, strings environment), (file, argv, environment),
          if_path(file))
EXEC_HOOK(fexecve, (int fd, strings argv, strings environment), (fd, argv, environment), NULL)
EXEC_HOOK(execveat, (int fd, const char *path, strings argv, strings environment, int flags),
          (fd, path, argv, environment, flags), NULL)

/* The functions with a list of arguments call the functions with an array. A short array lies on
 * the stack, as in libc. A longer array lies in pages of its own, because a thread's stack may be
 * small. */
#define FEW_ARGUMENTS 128

static size_t count_arguments(const char *first, va_list arguments)
{
    size_t count = 0;
    for (const char *argument = first; argument; argument = va_arg(arguments, const char *))
        count++;
    return count;
}

static char **make_array(char **few, size_t count)
{
    if (count < FEW_ARGUMENTS)
        return few;
    char **many = mmap(NULL, (count + 1) * sizeof *many, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return many == MAP_FAILED ? NULL : many;
}

static void free_array(char **array, const char *const *few, size_t count)
{
    const int saved_errno = errno;
    if (array && array != (char **)(uintptr_t)few)
        munmap(array, (count + 1) * sizeof *array);
    errno = saved_errno;
}

/* Fills argv and advances the list past its NULL. */
static void gather_arguments(const char *first, va_list *arguments, char **argv)
{
    for (const char *argument = first; argument; argument = va_arg(*arguments, const char *))
        *argv++ = (char *)(uintptr_t)argument;
    *argv = NULL;
}

#define EXECL_HOOK(name, call)                                                                     \
    GMT_EXPORT int name(const char *path, const char *first, ...)                                  \
    {                                                                                              \
        char *few[FEW_ARGUMENTS];                                                                  \
        va_list arguments, counted;                                                                \
        va_start(arguments, first);                                                                \
        va_copy(counted, arguments);                                                               \
        const size_t count = count_arguments(first, counted);                                      \
        char **argv = make_array(few, count);                                                      \
        int result = -1;                                                                           \
        va_end(counted);                                                                           \
        if (argv) {                                                                                \
            gather_arguments(first, &arguments, argv);                                             \
            result = call;                                                                         \
        }                                                                                          \
        va_end(arguments);                                                                         \
        free_array(argv, (const char *const *)few, count);                                         \
        return result;                                                                             \
    }

EXECL_HOOK(execl, execv(path, argv))
EXECL_HOOK(execlp, execvp(path, argv))
EXECL_HOOK(execle, execve(path, argv, va_arg(arguments, char *const *)))
