/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda */
/*
 * Makes random allocations and frees on several threads, and keeps its own books. At the end it
 * prints, as JSON, the figures that a report must give.
 *
 *     random_allocations WAY THREADS OPERATIONS LOCK [REPORT]
 *
 * WAY is how the driver is reached: runtime, linked, dlopen or lookup. With LOCK 1, one lock is
 * held across each call, so that the books are exact. With LOCK 0, the peak may differ by the bytes
 * of calls that have not returned. With REPORT 1, each operation is printed after it has returned
 * ("+ address size", "- address").
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"

#define LIVE_MAX 512
#define THREADS_MAX 64
#define TOO_MUCH_BYTES ((size_t)1 << 40)

/* --- the ways to the driver --- */

struct way {
    const char *name;
    void (*open)(void);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*release)(uint64_t address);
};

typedef CUresult alloc_function(CUdeviceptr *address, size_t bytes);
typedef CUresult free_function(CUdeviceptr address);

static alloc_function *driver_alloc;
static free_function *driver_free;
static CUcontext context;

static void fail(const char *what)
{
    fprintf(stderr, "random_allocations: %s failed\n", what);
    exit(3);
}

static void open_runtime(void)
{
    if (cudaSetDevice(0) != 0)
        fail("cudaSetDevice");
}

static int allocate_runtime(uint64_t *address, size_t bytes)
{
    void *pointer = NULL;
    const int status = (int)cudaMalloc(&pointer, bytes);
    *address = (uintptr_t)pointer;
    return status;
}

static int release_runtime(uint64_t address)
{
    return (int)cudaFree((void *)(uintptr_t)address);
}

static void retain_context(void)
{
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0))
        fail("cuInit");
}

static void open_linked(void)
{
    retain_context();
    driver_alloc = cuMemAlloc_v2;
    driver_free = cuMemFree_v2;
}

static void open_dlopen(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    retain_context();
    *(void **)&driver_alloc = library ? dlsym(library, "cuMemAlloc_v2") : NULL;
    *(void **)&driver_free = library ? dlsym(library, "cuMemFree_v2") : NULL;
    if (!driver_alloc || !driver_free)
        fail("dlsym");
}

typedef CUresult lookup_function(const char *name, void **function, int version, uint64_t flags,
                                 void *status);

static void open_lookup(void)
{
    lookup_function *lookup = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    retain_context();
    *(void **)&lookup = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (!lookup || lookup("cuMemAlloc", (void **)&driver_alloc, 3020, 0, NULL) ||
        lookup("cuMemFree", (void **)&driver_free, 3020, 0, NULL))
        fail("cuGetProcAddress");
}

static int allocate_driver(uint64_t *address, size_t bytes)
{
    CUdeviceptr pointer = 0;
    const int status = (int)driver_alloc(&pointer, bytes);
    *address = pointer;
    return status;
}

static int release_driver(uint64_t address)
{
    return (int)driver_free((CUdeviceptr)address);
}

static const struct way ways[] = {
    {"runtime", open_runtime, allocate_runtime, release_runtime},
    {"linked", open_linked, allocate_driver, release_driver},
    {"dlopen", open_dlopen, allocate_driver, release_driver},
    {"lookup", open_lookup, allocate_driver, release_driver},
};

static const struct way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    fail("finding the way");
    return NULL;
}

/* --- the books --- */

static _Atomic uint64_t live_bytes, peak_bytes, allocations, frees, failed;

static void book_allocation(size_t bytes)
{
    const uint64_t live = atomic_fetch_add(&live_bytes, bytes) + bytes;
    uint64_t peak = atomic_load(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live))
        ;
    atomic_fetch_add(&allocations, 1);
}

static bool reporting;

static void report(const char *format, uint64_t address, size_t bytes)
{
    char line[96];
    if (!reporting)
        return;
    const int length = snprintf(line, sizeof line, format, (unsigned long long)address, bytes);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(4);
}

/* --- the threads --- */

struct block {
    uint64_t address;
    size_t bytes;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    int live_count;
    struct block live[LIVE_MAX];
};

static pthread_mutex_t books_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct way *way;
static long operations;
static bool locking;

static uint64_t next_random(struct worker *worker)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return worker->random;
}

/* 1 byte to 4 MiB, small sizes more often; one in 1,000 exceeds the card. */
static size_t random_size(struct worker *worker)
{
    const uint64_t number = next_random(worker);
    if (number % 1000 == 0)
        return TOO_MUCH_BYTES;
    return 1 + (size_t)((number >> 10) % ((uint64_t)1 << (4 + (number >> 40) % 19)));
}

static void allocate_one(struct worker *worker)
{
    struct block block = {0, random_size(worker)};
    if (way->allocate(&block.address, block.bytes)) {
        atomic_fetch_add(&failed, 1);
        return;
    }
    book_allocation(block.bytes);
    worker->live[worker->live_count++] = block;
    report("+ %llx %zu\n", block.address, block.bytes);
}

static void release_one(struct worker *worker)
{
    const int index = (int)(next_random(worker) % (uint64_t)worker->live_count);
    const struct block block = worker->live[index];
    worker->live[index] = worker->live[--worker->live_count];
    atomic_fetch_sub(&live_bytes, block.bytes);
    if (way->release(block.address))
        fail("free");
    atomic_fetch_add(&frees, 1);
    report("- %llx\n", block.address, 0);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    if (context && cuCtxSetCurrent(context))
        fail("cuCtxSetCurrent");
    for (long i = 0; i < operations; i++) {
        const bool full = worker->live_count == LIVE_MAX;
        const bool grow = !full && (worker->live_count == 0 || next_random(worker) % 100 < 52);
        if (locking)
            pthread_mutex_lock(&books_lock);
        if (grow)
            allocate_one(worker);
        else
            release_one(worker);
        if (locking)
            pthread_mutex_unlock(&books_lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    if (argc < 5)
        fail("usage");
    way = find_way(argv[1]);
    const int count = (int)strtol(argv[2], NULL, 10);
    operations = strtol(argv[3], NULL, 10) / count;
    locking = argv[4][0] == '1';
    reporting = argc > 5 && argv[5][0] == '1';
    way->open();
    for (int i = 0; i < count; i++) {
        workers[i].random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("pthread_create");
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    if (!reporting)
        printf("{\"peak_bytes\": %llu, \"live_at_exit_bytes\": %llu, \"allocations\": %llu, "
               "\"frees\": %llu, \"failed\": %llu}\n",
               (unsigned long long)peak_bytes, (unsigned long long)live_bytes,
               (unsigned long long)allocations, (unsigned long long)frees,
               (unsigned long long)failed);
    return 0;
}
