/* SPDX-License-Identifier: MIT */
/*
 * Makes the mistakes that other preloaded libraries made inside the calls that they replace. The
 * tests build this file with one of these macros:
 *
 *     NAIVE_CONTEXT   needs a current context to make virtual memory
 *     NAIVE_LOCATION  takes every memory location for a device
 *     NAIVE_NULL      writes to the out-parameter without checking it for NULL
 *     NAIVE_ERRNO     leaves its own errno behind
 *     NAIVE_FORK      relies on pthread_atfork to start its thread in every process
 *     NAIVE_LOCK      holds a lock shared between processes during the real call
 *     NAIVE_BYPASS    calls the library instead of the next tool
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

typedef cudaError_t malloc_function(void **address, size_t size_bytes);

static GMT_UNUSED cudaError_t real_malloc(void **address, size_t size_bytes)
{
    return GMT_FUNCTION(malloc_function *, dlsym(RTLD_NEXT, "cudaMalloc"))(address, size_bytes);
}

#if defined(NAIVE_CONTEXT) || defined(NAIVE_LOCATION)
typedef CUresult create_function(CUmemGenericAllocationHandle *handle, size_t size_bytes,
                                 const CUmemAllocationProp *properties, unsigned long long flags);

GMT_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size_bytes,
                                const CUmemAllocationProp *properties, unsigned long long flags)
{
    create_function *real = GMT_FUNCTION(create_function *, dlsym(RTLD_NEXT, "cuMemCreate"));
#ifdef NAIVE_CONTEXT
    CUdevice device;
    const CUresult known = cuCtxGetDevice(&device);
#else
    size_t device_bytes;
    const CUresult known = cuDeviceTotalMem_v2(&device_bytes, properties->location.id);
#endif
    return known ? known : real(handle, size_bytes, properties, flags);
}
#elif defined(NAIVE_NULL)
GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    *address = NULL;
    return real_malloc(address, size_bytes);
}
#elif defined(NAIVE_ERRNO)
GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    const ssize_t written = write(-1, "cudaMalloc\n", 11);
    return written == 11 ? cudaErrorUnknown : real_malloc(address, size_bytes);
}
#elif defined(NAIVE_FORK)
static sem_t asked, answered;

static void *answer(void *unused)
{
    for (;;) {
        sem_wait(&asked);
        sem_post(&answered);
    }
    return unused;
}

static void start(void)
{
    pthread_t thread;
    sem_init(&asked, 0, 0);
    sem_init(&answered, 0, 0);
    pthread_create(&thread, NULL, answer, NULL);
}

__attribute__((constructor)) static void set_up(void)
{
    start();
    pthread_atfork(NULL, NULL, start);
}

/* Waits with a time limit, because without the answering thread the call would wait for ever. */
GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    sem_post(&asked);
    if (sem_timedwait(&answered, &until) != 0)
        _exit(99);
    return real_malloc(address, size_bytes);
}
#elif defined(NAIVE_LOCK)
static atomic_int *lock;

__attribute__((constructor)) static void set_up(void)
{
    const int fd = open("naive.lock", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, sizeof *lock) == 0)
        lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

/* Waits for the lock with a limit, because the process that holds the lock may never unlock it. */
GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    int turns = 0, unlocked = 0;
    while (!atomic_compare_exchange_strong(lock, &unlocked, 1)) {
        unlocked = 0;
        usleep(1000);
        if (++turns == 1000)
            _exit(99);
    }
    const cudaError_t result = real_malloc(address, size_bytes);
    usleep(1000); /* stands for the library's own work */
    atomic_store(lock, 0);
    return result;
}
#elif defined(NAIVE_BYPASS)
GMT_EXPORT cudaError_t cudaMalloc(void **address, size_t size_bytes)
{
    void *library = dlopen("libcudart.so.13", RTLD_NOW);
    return GMT_FUNCTION(malloc_function *, dlsym(library, "cudaMalloc"))(address, size_bytes);
}
#endif
