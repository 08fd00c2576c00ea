/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda */
/*
 * Runs threads in which each allocation has a new stack. So the recorder is adding a stack whenever
 * the process forks:
 *
 *     stack_forks FORKS
 *
 * Each child makes a CUDA call and ends. Exits 1 if a child had to be killed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "tests/programs/harm/child.h"

#define THREADS 3
#define DEPTH 20
#define STACKS_A_FORK 1000

static atomic_bool over;
static atomic_int begun, left; /* left: stacks until the fork is over, so that they fit the tree */
static _Thread_local unsigned after; /* used after calls, to prevent tail calls */

/* Each bit of `path` selects one of two calls, which have different return addresses. */
static GMT_NOINLINE void descend(unsigned long path, int depth)
{
    void *block = NULL;
    if (depth == 0)
        cudaMalloc(&block, 512), cudaFree(block);
    else if (path & 1)
        descend(path >> 1, depth - 1), after++;
    else
        descend(path >> 1, depth - 1), after += 2;
}

static void *churn(void *argument)
{
    unsigned long path = (unsigned long)(size_t)argument;
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&over)) {
        if (atomic_fetch_sub(&left, 1) > 0)
            descend(path += THREADS, DEPTH);
        else
            usleep(100);
    }
    return NULL;
}

static int fork_one(void)
{
    int status;
    atomic_store(&left, STACKS_A_FORK);
    usleep(500);
    const pid_t child = fork();
    if (child == 0) {
        CUdeviceptr block;
        alarm(CHILD_LIMIT_S);
        cuMemAlloc_v2(&block, 512);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    const long forks = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    int status = 0;
    descend(0, DEPTH);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)i) != 0)
            return 2;
    while (atomic_load(&begun) < THREADS)
        usleep(1000);
    for (long i = 0; i < forks && !status; i++)
        status = fork_one();
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (status)
        printf("a child ended with status %d\n", status);
    return status != 0;
}
