/* SPDX-License-Identifier: MIT */
/*
 * Runs a program with its output discarded, and prints its cost: CPU microseconds, wall
 * microseconds, highest resident KiB, exit status.
 *
 * The highest resident memory of a program counts from its fork on, when the new process is still a
 * copy of its parent. So this program, the parent, is small.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static double us(struct timeval time)
{
    return 1e6 * (double)time.tv_sec + (double)time.tv_usec;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 2)
        return 2;
    const double start = wall_us();
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0)
            dup2(nowhere, STDOUT_FILENO);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    printf("%.0f %.0f %ld %d\n", us(usage.ru_utime) + us(usage.ru_stime), wall_us() - start,
           usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
