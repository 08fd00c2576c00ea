/* SPDX-License-Identifier: MIT */
/* Runs a program in a process group of its own; see run_group.h. */
#include "run_group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_start.h"

enum { GRACE_S = 5 };

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

#define STOPPING_COUNT (sizeof stopping / sizeof stopping[0])

/* Written while the signals are blocked, or by their handlers. */
static volatile sig_atomic_t group_pid, stopped_by;

static void stop_group(int signal)
{
    const int saved_errno = errno;
    if (group_pid > 0)
        kill(-(pid_t)group_pid, stopped_by ? SIGKILL : SIGTERM);
    if (!stopped_by)
        stopped_by = signal;
    alarm(GRACE_S);
    errno = saved_errno;
}

static void kill_group(int signal)
{
    const int saved_errno = errno;
    (void)signal;
    if (group_pid > 0)
        kill(-(pid_t)group_pid, SIGKILL);
    errno = saved_errno;
}

void run_group_watch(void)
{
    struct sigaction action = {.sa_handler = stop_group, .sa_flags = SA_RESTART};
    struct sigaction late = {.sa_handler = kill_group, .sa_flags = SA_RESTART};
    struct sigaction standard = {.sa_handler = SIG_DFL}, before;
    for (size_t i = 0; i < STOPPING_COUNT; i++)
        if (!sigaction(stopping[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(stopping[i], &action, NULL);
    sigaction(SIGALRM, &late, NULL);
    /* If SIGCHLD were ignored, the kernel would discard the exit status. */
    sigaction(SIGCHLD, &standard, NULL);
}

int run_group_stopped_by(void)
{
    return stopped_by;
}

static void block_signals(sigset_t *before)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < STOPPING_COUNT; i++)
        sigaddset(&blocked, stopping[i]);
    sigaddset(&blocked, SIGALRM);
    sigprocmask(SIG_BLOCK, &blocked, before);
}

/* --- the child --- */

struct start {
    const char *path;
    char **argv;
    char *const *variables;
    int input_fd, log_fd, pipe_fd;
    sigset_t mask;
};

/* Executes the program in the child. Never returns. */
static void become(const struct start *start)
{
    bool is_ready = dup2(start->input_fd, STDIN_FILENO) >= 0 &&
                    dup2(start->log_fd, STDOUT_FILENO) >= 0 &&
                    dup2(start->log_fd, STDERR_FILENO) >= 0;
    setpgid(0, 0);
    for (char *const *variable = start->variables; *variable && is_ready; variable++)
        is_ready = !putenv(*variable);
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
    if (is_ready)
        execvp(start->path, start->argv);
    run_start_failed(start->pipe_fd);
}

/* --- the parent --- */

/* Forgets the group. If the program was stopped, kills the processes that it left running. */
static void leave_group(pid_t pid)
{
    sigset_t before;
    block_signals(&before);
    group_pid = 0;
    alarm(0);
    if (stopped_by)
        kill(-pid, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static int start_and_wait(struct start *start, int read_fd, struct run_ended *ended)
{
    block_signals(&start->mask);
    const pid_t pid = stopped_by ? -1 : fork();
    if (pid == 0)
        become(start);
    if (pid > 0) {
        setpgid(pid, pid); /* parent and child both do this, because either may run first */
        group_pid = pid;
    }
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
    close(start->pipe_fd);
    start->pipe_fd = -1;
    if (pid < 0)
        return -1;
    ended->pid = pid;
    const int status = run_start_wait(pid, read_fd, ended);
    leave_group(pid);
    return status;
}

int run_group(const char *path, char **argv, char *const *variables, const char *log_path,
              struct run_ended *ended, struct err *err)
{
    int ends[2] = {-1, -1}, status = -1;
    struct start start = {.path = path, .argv = argv, .variables = variables, .log_fd = -1};
    *ended = (struct run_ended){0};
    start.input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (start.input_fd >= 0)
        start.log_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (start.log_fd >= 0 && !pipe2(ends, O_CLOEXEC)) {
        start.pipe_fd = ends[1];
        fflush(NULL);
        status = start_and_wait(&start, ends[0], ended);
    }
    if (status < 0 || ended->start_errno)
        err_set(err, ERR_SYSTEM, "cannot run '%.200s': %s", path,
                strerror(ended->start_errno ? ended->start_errno : errno));
    if (start.input_fd >= 0)
        close(start.input_fd);
    if (start.log_fd >= 0)
        close(start.log_fd);
    if (ends[0] >= 0)
        close(ends[0]);
    return ended->start_errno ? -1 : status;
}
