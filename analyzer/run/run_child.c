/* SPDX-License-Identifier: MIT */
/* Starts the recorded program and waits for it; see run_child.h. */
#include "run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "run_start.h"

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

#define FORWARDED_COUNT (sizeof forwarded / sizeof forwarded[0])

struct signals {
    sigset_t mask; /* the mask before the program */
    struct sigaction actions[FORWARDED_COUNT], child_action;
};

/* Written while the signals are blocked; read by the handler. */
static volatile sig_atomic_t child_pid;

/* Sends a received signal to the program, but only if a process sent it. si_code is at most 0 for
 * kill(2), and above 0 for signals of the kernel, such as those of the terminal's keys. */
static void forward_signal(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)context;
    if (child_pid > 0 && info->si_code <= 0)
        kill((pid_t)child_pid, signal);
    errno = saved_errno;
}

/* Blocks the signals until the child's pid is known. An ignored signal (nohup) stays ignored. */
static void signals_take(struct signals *signals)
{
    struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        sigaddset(&blocked, forwarded[i]);
    sigprocmask(SIG_BLOCK, &blocked, &signals->mask);
    for (size_t i = 0; i < FORWARDED_COUNT; i++) {
        sigaction(forwarded[i], NULL, &signals->actions[i]);
        if (signals->actions[i].sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
    }
    /* If SIGCHLD were ignored, the kernel would discard the exit status. */
    sigaction(SIGCHLD, &standard, &signals->child_action);
}

static void signals_give_back(const struct signals *signals)
{
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        sigaction(forwarded[i], &signals->actions[i], NULL);
    sigaction(SIGCHLD, &signals->child_action, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

/* Executes the program in the child. Never returns. */
static void become(const char *path, char **argv, const struct signals *signals, int pipe_fd)
{
    signals_give_back(signals);
    execvp(path, argv);
    run_start_failed(pipe_fd);
}

int run_child(const char *path, char **argv, struct run_ended *ended, struct err *err)
{
    struct signals signals;
    int ends[2];
    *ended = (struct run_ended){0};
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    signals_take(&signals);
    pid_t pid = fork();
    if (pid == 0)
        become(path, argv, &signals, ends[1]);
    int fork_errno = errno;
    close(ends[1]);
    child_pid = pid;
    sigprocmask(SIG_SETMASK, &signals.mask, NULL);
    ended->pid = pid;
    int status = pid > 0 ? run_start_wait(pid, ends[0], ended) : -1;
    int wait_errno = errno;
    close(ends[0]);
    child_pid = 0;
    if (ended->start_errno)
        err_set(err, ERR_SYSTEM, "cannot start '%.200s': %s%s", path, strerror(ended->start_errno),
                ended->start_errno == ENOENT ? " (the interpreter that it names)" : "");
    else if (status < 0)
        err_set(err, ERR_SYSTEM, "cannot run '%.200s': %s", path,
                strerror(pid < 0 ? fork_errno : wait_errno));
    return ended->start_errno ? -1 : status;
}
