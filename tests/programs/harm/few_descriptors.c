/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Works with a low limit of open descriptors, and prints the results of its calls and the numbers
 * of its descriptors. All must be the same as without the recorder. Exits with 5.
 *
 *     few_descriptors            under the limit that it was started with
 *     few_descriptors LIMIT      sets RLIMIT_NOFILE to LIMIT before the first CUDA call
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)
#define OPENED_AT_ONCE 3

static void say(const char *what, int result)
{
    printf("%s: %d (errno %d)\n", what, result, errno);
    errno = 0;
}

/* Each descriptor gets the same number as without the recorder. */
static void open_and_close(const char *when)
{
    int opened[OPENED_AT_ONCE];
    printf("%s:", when);
    for (int i = 0; i < OPENED_AT_ONCE; i++)
        printf(" %d", opened[i] = open("/dev/null", O_RDONLY | O_CLOEXEC));
    say("; the last", 0);
    for (int i = 0; i < OPENED_AT_ONCE; i++)
        if (opened[i] >= 0)
            close(opened[i]);
}

static void *take(size_t bytes)
{
    void *block = NULL;
    say("cudaMalloc", (int)cudaMalloc(&block, bytes));
    puts(block ? "a block" : "no block");
    return block;
}

static void *work_in_thread(void *unused)
{
    (void)unused;
    say("cudaFree in a thread", (int)cudaFree(take(MIB)));
    return NULL;
}

static void work_in_child(void)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        open_and_close("in the child");
        take(MIB);
        open_and_close("in the child, later");
        exit(6);
    }
    waitpid(child, &status, 0);
    say("child", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
    void *pinned = NULL;
    pthread_t thread;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (argc > 1) {
        const struct rlimit limit = {strtoul(argv[1], NULL, 10), strtoul(argv[1], NULL, 10)};
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return 9;
    }
    open_and_close("before");
    gpumemtrace_push("work");
    void *block = take(2 * MIB);
    open_and_close("after the first call");
    say("cudaMallocHost", (int)cudaMallocHost(&pinned, MIB));
    say("cudaFreeHost", (int)cudaFreeHost(pinned));
    pthread_create(&thread, NULL, work_in_thread, NULL);
    pthread_join(thread, NULL);
    gpumemtrace_pop();
    work_in_child();
    say("cudaFree", (int)cudaFree(block));
    open_and_close("at the end");
    return 5;
}
