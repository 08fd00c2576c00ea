/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Allocates on a thread inside a function named like autograd's engine, as PyTorch's backward
 * threads do, without an interpreter. Prints the address.
 */
#include <pthread.h>
#include <stdio.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

static volatile int after; /* used after calls, to prevent tail calls */
static void *block;

GMT_EXPORT void thread_main(void) __asm__(
    "_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE");

static GMT_NOINLINE void evaluate_function(void)
{
    cudaMalloc(&block, 4096);
    after++;
}

GMT_NOINLINE void thread_main(void)
{
    evaluate_function();
    after++;
}

static void *thread_init(void *argument)
{
    thread_main();
    after++;
    return argument;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_init, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    printf("%lu\n", (unsigned long)block);
    return 0;
}
