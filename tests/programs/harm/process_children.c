/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Makes other processes in every way, before and after its first CUDA call: posix_spawn, system,
 * vfork, clone with and without shared memory, _Fork, daemon, an exec of itself. It also ends by
 * the end of its last thread, and by a system call that cannot be hooked. Prints each process's
 * results and how it ended, which must be the same with and without the recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "gpumemtrace/cuda/abi.h"
#include "modes.h"

#define MIB ((size_t)1 << 20)

static char *own_path;

/* Allocates this many MiB and prints the result. */
static int take(size_t mebibytes)
{
    void *block = NULL;
    errno = 77;
    const int result = (int)cudaMalloc(&block, mebibytes * MIB);
    printf("%zu MiB: %d %s (errno %d)\n", mebibytes, result, block ? "block" : "nothing", errno);
    return result;
}

static int wait_and_say(const char *what, pid_t child)
{
    printf("%s ended: %d\n", what, child < 0 ? -errno : child_wait_patiently(child));
    return 5;
}

/* --- children that do not come back --- */

MODE(by_posix_spawn, "posix-spawn")
{
    char shell[] = "sh", option[] = "-c", command[] = "exit 3", nothing[] = "x";
    char *argv[] = {shell, option, command, NULL}, *nobody[] = {nothing, NULL};
    extern char **environ;
    pid_t child = -1;
    take(1);
    printf("spawn: %d\n", posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ));
    wait_and_say("spawned", child);
    printf("spawn: %d\n", posix_spawnp(&child, "no-such-program", NULL, NULL, nobody, environ));
    take(2);
    return 5;
}

MODE(by_system, "system")
{
    char line[32] = "";
    take(1);
    const int status = WEXITSTATUS(system("exit 4"));
    FILE *pipe = popen("echo from a child", "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        return 9;
    printf("system: %d; popen: %s", status, line);
    pclose(pipe);
    take(2);
    return 5;
}

/* The child shares the memory of its parent. So if the child's recording changed, the parent's
   recording would change as well. */
MODE(by_vfork, "vfork")
{
    take(1);
    pid_t child = vfork();
    if (child == 0)
        _exit(4);
    wait_and_say("vforked", child);
    if ((child = vfork()) == 0) {
        execl("/nowhere/to/be/found", "x", (char *)NULL);
        _exit(errno == ENOENT ? 4 : 9);
    }
    wait_and_say("vforked to exec nothing", child);
    take(2);
    return 5;
}

static int end_in_clone(void *unused)
{
    (void)unused;
    _exit(6);
}

MODE(by_clone_with_memory, "clone-with-memory")
{
    static char stack[256 << 10];
    take(1);
    wait_and_say("cloned",
                 clone(end_in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
    take(2);
    return 5;
}

/* --- children that use CUDA --- */

/* Neither raw_clone nor _Fork runs the handlers of pthread_atfork. */
static pid_t raw_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int use_in_child(pid_t child)
{
    if (child == 0)
        exit(take(3) == 0 ? 7 : 8);
    return wait_and_say("child", child);
}

MODE(by_clone_before, "clone-before")
{
    use_in_child(raw_clone());
    take(1);
    return 5;
}

MODE(by_clone_after, "clone-after")
{
    take(1);
    use_in_child(raw_clone());
    take(2);
    return 5;
}

MODE(by_Fork_after, "_Fork-after")
{
    take(1);
    use_in_child(_Fork());
    take(2);
    return 5;
}

/* When a function called by clone returns, its process ends without libc's exit. */
static int take_in_clone(void *unused)
{
    (void)unused;
    return take(3) == 0 ? 7 : 8;
}

MODE(by_cloned_function, "cloned-function")
{
    static char stack[256 << 10];
    wait_and_say("cloned", clone(take_in_clone, stack + sizeof stack, SIGCHLD, NULL));
    take(1);
    return 5;
}

MODE(by_cloned_function_with_memory, "cloned-function-with-memory")
{
    static char stack[256 << 10];
    wait_and_say("cloned", clone(take_in_clone, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL));
    take(1);
    return 5;
}

/* --- ends by the last thread --- */

static void take_at_exit(void)
{
    take(3);
}

static pthread_t main_thread;

static void *outlive_main(void *unused)
{
    (void)unused;
    pthread_join(main_thread, NULL);
    take(2);
    return NULL;
}

static void let_threads_end(void)
{
    pthread_t thread;
    take(1);
    atexit(take_at_exit);
    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, outlive_main, NULL) == 0)
        pthread_detach(thread);
    pthread_exit(NULL);
}

MODE(by_last_thread, "last-thread")
{
    const pid_t child = fork();
    if (child == 0)
        let_threads_end();
    return wait_and_say("child", child);
}

/* --- daemons --- */

/* Keeps one descriptor open, to which the daemon reports. */
static void become_daemon(int said)
{
    if (setsid() < 0 || fork() != 0)
        _exit(0);
    umask(0);
    if (chdir("/") != 0)
        _exit(9);
    for (int fd = 0; fd < 1024; fd++)
        if (fd != said)
            close(fd);
    if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
        _exit(9);
    dup2(said, STDOUT_FILENO);
    close(said);
    take(4);
    take(5);
    exit(5);
}

/* The pipe closes when the daemon ends. */
MODE(by_daemon, "daemon")
{
    char text[256] = "";
    size_t length = 0;
    ssize_t part;
    int ends[2];
    if (pipe(ends) != 0)
        return 9;
    const pid_t child = fork();
    if (child == 0)
        become_daemon(ends[1]);
    close(ends[1]);
    wait_and_say("first fork", child);
    while ((part = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)part;
    printf("the daemon said:\n%s", text);
    return 5;
}

MODE(by_daemon_after, "daemon-after")
{
    take(1);
    return by_daemon();
}

/* libc's daemon() ends the calling process inside libc. The daemon waits for a byte in one pipe.
   When its other pipe closes, the daemon has ended. */
MODE(by_daemon_of_libc, "daemon-of-libc")
{
    char byte = 'x';
    int go[2], gone[2];
    if (pipe(go) != 0 || pipe(gone) != 0)
        return 9;
    const pid_t child = fork();
    if (child == 0) {
        take(1);
        fflush(stdout);
        if (daemon(1, 1) != 0 || read(go[0], &byte, 1) != 1)
            _exit(9);
        take(2);
        exit(5);
    }
    close(gone[1]);
    wait_and_say("its caller", child);
    fflush(stdout);
    return write(go[1], &byte, 1) == 1 && read(gone[0], &byte, 1) == 0 ? 5 : 9;
}

/* --- killed inside a call --- */

static void call_for_ever(int ready)
{
    void *block = NULL;
    cudaMalloc(&block, MIB);
    if (write(ready, "x", 1) != 1)
        _exit(9);
    for (;;)
        if (cudaMalloc(&block, MIB) != 0 || cudaFree(block) != 0)
            _exit(9);
}

/* The first child is killed at any point; the second must not wait for the first. */
static int kill_one_and_try(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        return -1;
    const pid_t first = fork();
    if (first == 0)
        call_for_ever(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return -1;
    usleep(500);
    kill(first, SIGKILL);
    child_wait_patiently(first);
    close(ready[0]);
    close(ready[1]);
    const pid_t second = fork();
    if (second == 0)
        _exit((int)cudaMalloc(&(void *){NULL}, MIB));
    return child_wait_patiently(second);
}

MODE(by_kills, "kills")
{
    for (int i = 0; i < 20; i++) {
        const int status = kill_one_and_try();
        if (status != 0) {
            printf("turn %d: %d\n", i, status);
            return 5;
        }
    }
    printf("nobody waited\n");
    return 5;
}

/* --- exec of itself, and ends --- */

MODE(by_exec_again, "exec-again")
{
    char mode[] = "one";
    char *argv[] = {own_path, mode, NULL};
    take(1);
    execv(own_path, argv);
    return 9;
}

MODE(one, "one")
{
    take(2);
    return 5;
}

/* Calls no function that can be hooked. */
MODE(by_system_call, "system-call")
{
    take(1);
    take(2);
    syscall(SYS_exit_group, 5);
    return 9;
}

static void *take_and_give(void *unused)
{
    void *block = NULL;
    (void)unused;
    for (int i = 0; i < 4; i++)
        if (cudaMalloc(&block, MIB) != 0 || cudaFree(block) != 0)
            _exit(9);
    return NULL;
}

#define STORM_THREADS 100
#define STORM_ROUNDS 30

MODE(storm, "storm")
{
    static pthread_t threads[STORM_THREADS];
    for (int round = 0; round < STORM_ROUNDS; round++) {
        for (int i = 0; i < STORM_THREADS; i++)
            if (pthread_create(&threads[i], NULL, take_and_give, NULL) != 0)
                return 9;
        for (int i = 0; i < STORM_THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    return 5;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    own_path = argv[0];
    return run_mode(argc, argv);
}
