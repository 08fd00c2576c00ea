/* SPDX-License-Identifier: MIT */
/* A child reports that it could not start, and its parent waits; see run_start.h. */
#include "run_start.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 126 };

_Noreturn void run_start_failed(int pipe_fd)
{
    const int reason = errno;
    const ssize_t written = write(pipe_fd, &reason, sizeof reason);
    (void)written; /* if the write fails, the parent still sees the exit status */
    _exit(NOT_STARTED);
}

/* Waits until the child runs the program and returns 0, or returns the errno of the child's
 * failure. */
static int read_start_errno(int pipe_fd)
{
    int reason = 0;
    ssize_t length;
    do
        length = read(pipe_fd, &reason, sizeof reason);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof reason ? reason : 0;
}

int run_start_wait(pid_t pid, int pipe_fd, struct run_ended *ended)
{
    int status;
    ended->start_errno = read_start_errno(pipe_fd);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    ended->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ended->signal ? 128 + ended->signal : WEXITSTATUS(status);
}
