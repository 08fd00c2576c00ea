/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Runs threads that allocate and free concurrently in every way, and forks. No memory may be lost,
 * and the driver must return an error in a forked child.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_device.h"

enum { THREADS = 4, ROUNDS = 3000, HELD = 16 };

static void turn(CUdeviceptr *plain, CUdeviceptr *piece, size_t size_bytes)
{
    if (*plain)
        EXPECT(cuMemFree_v2(*plain), 0);
    EXPECT(cuMemAlloc_v2(plain, size_bytes), 0);
    if (*piece)
        EXPECT(cuMemFreeAsync(*piece, NULL), 0);
    EXPECT(cuMemAllocAsync(piece, size_bytes, NULL), 0);
    if (size_bytes % 64 == 0)
        EXPECT(cuStreamSynchronize(NULL), 0);
}

static void *work(void *seed)
{
    CUdeviceptr plain[HELD] = {0}, pieces[HELD] = {0};
    uint64_t random = (uint64_t)(uintptr_t)seed;
    EXPECT(cuCtxSetCurrent(context), 0);
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        turn(&plain[i % HELD], &pieces[i % HELD], 1 + (random >> 40) % (4 * MIB));
    }
    for (int i = 0; i < HELD; i++) {
        EXPECT(cuMemFree_v2(plain[i]), 0);
        EXPECT(cuMemFreeAsync(pieces[i], NULL), 0);
    }
    return NULL;
}

PART(nothing_is_missing_after_many_threads)
{
    pthread_t threads[THREADS];
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    const size_t before = free_bytes();
    for (uintptr_t i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_join(threads[i], NULL), 0);
    EXPECT(cuCtxSynchronize(), 0);
    EXPECT(free_bytes(), before);
}

static int result_in_child(CUresult (*call)(void))
{
    int status;
    const pid_t child = fork();
    if (!child)
        _exit((int)call() % 256);
    EXPECT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static CUresult initialize(void)
{
    return cuInit(0);
}

static CUresult allocate(void)
{
    CUdeviceptr address;
    return cuMemAlloc_v2(&address, 100);
}

PART(a_child_of_a_process_that_uses_the_driver_cannot)
{
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(result_in_child(initialize), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(result_in_child(allocate), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(allocate(), 0);
}

PART(a_child_of_one_that_does_not_starts_its_own)
{
    EXPECT(result_in_child(initialize), 0);
    EXPECT(cuInit(0), 0);
}

SIM_MAIN()
