/* SPDX-License-Identifier: MIT */
/* See child.h. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 30 };

/* Reads at most `bytes` bytes until the other end closes. Closes fd and returns the number of bytes
 * read. */
static size_t read_all(int fd, char *buffer, size_t bytes)
{
    size_t length = 0;
    while (length < bytes) {
        const ssize_t count = read(fd, buffer + length, bytes - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    close(fd);
    return length;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Creates a pipe and forks. Returns 0 in the child, which writes to ends[1]. */
static pid_t start(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    const pid_t pid = fork();
    if (pid)
        close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    if (pid == 0)
        alarm(PATIENCE_S);
    return pid;
}

/* Discards the child's output, because a driver or library may print. */
static void be_silent(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

bool child_ask(void (*ask)(void *answer, const void *about), const void *about, void *answer,
               size_t bytes)
{
    int ends[2];
    const pid_t pid = start(ends);
    if (pid < 0)
        return false;
    if (pid == 0) {
        be_silent();
        ask(answer, about);
        _exit(write(ends[1], answer, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    const bool was_told = read_all(ends[0], answer, bytes) == bytes;
    wait_for(pid);
    return was_told;
}

int child_run(const char *word, const char *preload, char *said, size_t bytes)
{
    int ends[2];
    const pid_t pid = start(ends);
    said[0] = '\0';
    if (pid < 0)
        return -1;
    if (pid == 0) {
        be_silent();
        dup2(ends[1], STDERR_FILENO);
        if (!setenv("LD_PRELOAD", preload, 1))
            execl("/proc/self/exe", "gpumemtrace", word, (char *)NULL);
        _exit(127);
    }
    said[read_all(ends[0], said, bytes - 1)] = '\0';
    return wait_for(pid);
}

const char *child_reason(char *said)
{
    char *colon;
    said[strcspn(said, "\n")] = '\0';
    if (strlen(said) > 300)
        said[300] = '\0';
    colon = strstr(said, "ERROR: ld.so: ");
    return colon ? colon + strlen("ERROR: ld.so: ") : said;
}
