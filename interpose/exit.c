/* SPDX-License-Identifier: MIT */
/*
 * The ends of a process: exit, return from main, _exit, exec, and the library's own destructor.
 * Each marks the moment, closes the trace where nothing of ours can run later, and does what it was
 * asked to. Also dlclose, after which frames could lie in memory that is something else. It must
 * not know what is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "modules.h"
#include "recorder.h"
#include "resolve.h"

enum exit_reason { EXIT_BY_EXIT, EXIT_BY__EXIT, EXIT_BY_EXEC };

/* libc's function behind one of ours. */
#define REAL(name) GMT_FUNCTION(name##_function *, resolve_libc(#name))

/* --- exit
 * ------------------------------------------------------------------------------------------ */

typedef void exit_function(int status);
typedef exit_function _exit_function, _Exit_function, quick_exit_function;
typedef int main_function(int argc, char **argv, char **environment);
typedef int __libc_start_main_function(main_function *main, int argc, char **argv,
                                       void (*init)(void), void (*fini)(void),
                                       void (*rtld_fini)(void), void *stack_end);

static main_function *real_main;

static int main_that_marks_exit(int argc, char **argv, char **environment)
{
    const int status = real_main(argc, argv, environment);
    recorder_mark_exit(EXIT_BY_EXIT);
    return status;
}

GMT_EXPORT __libc_start_main_function __libc_start_main;

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    real_main = main;
    return REAL(__libc_start_main)(main_that_marks_exit, argc, argv, init, fini, rtld_fini,
                                   stack_end);
}

/* Should libc be unfindable, the process still ends as asked. */
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
        before;                                                                                    \
        if (real)                                                                                  \
            real(status);                                                                          \
        leave(status);                                                                             \
    }

static void end_now(enum exit_reason reason)
{
    const int saved_errno = errno;
    recorder_mark_exit(reason);
    recorder_end(reason != EXIT_BY_EXEC);
    errno = saved_errno;
}

EXIT_HOOK(exit, recorder_mark_exit(EXIT_BY_EXIT))
EXIT_HOOK(_exit, end_now(EXIT_BY__EXIT))
EXIT_HOOK(_Exit, end_now(EXIT_BY__EXIT))
EXIT_HOOK(quick_exit, end_now(EXIT_BY__EXIT))

__attribute__((destructor)) static void end_with_the_library(void)
{
    end_now(EXIT_BY_EXIT);
}

/* --- exec
 * ------------------------------------------------------------------------------------------ */

/*
 * The trace is closed before the call, for nothing runs after it, and opened again should it fail.
 * A path that is not executable fails anyway: libraries that try every folder of PATH must not cost
 * a closing each.
 */
static void before_exec(const char *path)
{
    const int saved_errno = errno;
    if (!path || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
        end_now(EXIT_BY_EXEC);
    errno = saved_errno;
}

static void after_failed_exec(void)
{
    const int saved_errno = errno;
    recorder_resume();
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
        before_exec(path);                                                                         \
        result = real arguments;                                                                   \
        after_failed_exec();                                                                       \
        return result;                                                                             \
    }

typedef char *const *strings;

/* A NULL path: found through PATH or a descriptor, so not looked at first. */
EXEC_HOOK(execve, (const char *path, strings argv, strings environment), (path, argv, environment),
          path)
EXEC_HOOK(execv, (const char *path, strings argv), (path, argv), path)
EXEC_HOOK(execvp, (const char *file, strings argv), (file, argv), NULL)
EXEC_HOOK(execvpe, (const char *file, strings argv, strings environment), (file, argv, environment),
          NULL)
EXEC_HOOK(fexecve, (int fd, strings argv, strings environment), (fd, argv, environment), NULL)
EXEC_HOOK(execveat, (int fd, const char *path, strings argv, strings environment, int flags),
          (fd, path, argv, environment, flags), NULL)

/* The forms with the arguments in the call become the forms with an array. */
#define EXECL_LIMIT 4096

static int gather(const char *first, va_list *arguments, char **argv)
{
    int count = 0;
    for (const char *argument = first; argument && count < EXECL_LIMIT - 1;
         argument = va_arg(*arguments, const char *))
        argv[count++] = (char *)(uintptr_t)argument;
    argv[count] = NULL;
    return count;
}

#define EXECL_HOOK(name, as)                                                                       \
    GMT_EXPORT int name(const char *path, const char *first, ...)                                  \
    {                                                                                              \
        char *argv[EXECL_LIMIT];                                                                   \
        va_list arguments;                                                                         \
        va_start(arguments, first);                                                                \
        gather(first, &arguments, argv);                                                           \
        va_end(arguments);                                                                         \
        return as(path, argv);                                                                     \
    }

EXECL_HOOK(execl, execv)
EXECL_HOOK(execlp, execvp)

GMT_EXPORT int execle(const char *path, const char *first, ...)
{
    char *argv[EXECL_LIMIT];
    va_list arguments;
    va_start(arguments, first);
    gather(first, &arguments, argv);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, argv, environment);
}

/* --- dlclose
 * --------------------------------------------------------------------------------------- */

typedef int dlclose_function(void *handle);

GMT_EXPORT dlclose_function dlclose;

int dlclose(void *handle)
{
    const int saved_errno = errno;
    dlclose_function *real = REAL(dlclose);
    if (handle && recorder_generation())
        modules_pin(handle);
    errno = saved_errno;
    return real ? real(handle) : -1;
}
