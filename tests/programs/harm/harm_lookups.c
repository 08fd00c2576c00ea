/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * A program that is not linked to CUDA. It checks whether CUDA is there, opens the driver, closes
 * it, maps other memory in its place and opens it again, or looks up symbols while other libraries
 * are loaded and unloaded. Prints the results.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "gpumemtrace/compiler.h"
#include "thread_state.h"

typedef int init_function(unsigned flags);
typedef int retain_function(void **context, int device);
typedef int set_current_function(void *context);
typedef int alloc_function(uint64_t *address, size_t bytes);

#define FIND(handle, type, name) GMT_FUNCTION(type *, dlsym(handle, name))

static const char *found(const void *symbol)
{
    return symbol ? "found" : "absent";
}

/* --- is CUDA there? --- */

int cudaMalloc(void **block, size_t bytes) __attribute__((weak));
int cuInit(unsigned flags) __attribute__((weak));
static int (*const volatile weak_in_data)(void **block, size_t bytes) = cudaMalloc;

static int absent(const char *unused)
{
    (void)unused;
    printf("weak: %s %s %s\n", found(cudaMalloc ? "" : NULL), found(cuInit ? "" : NULL),
           found(weak_in_data ? "" : NULL));
    void *program = dlopen(NULL, RTLD_NOW);
    const char *const names[] = {"cuInit",   "cuMemAlloc_v2", "cuGetProcAddress_v2",
                                 "cudaFree", "cudaMalloc",    "cudaGetDriverEntryPoint"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        printf("%s: default %s", names[i], found(dlsym(RTLD_DEFAULT, names[i])));
        printf(", error %s", dlerror() ? "given" : "missing");
        printf(", next %s", found(dlsym(RTLD_NEXT, names[i])));
        printf(", program %s\n", found(dlsym(program, names[i])));
    }
    return 5;
}

/* --- the driver, opened by hand --- */

static int use_driver(void *driver)
{
    void *context = NULL;
    uint64_t address = 0;
    init_function *init = FIND(driver, init_function, "cuInit");
    retain_function *retain = FIND(driver, retain_function, "cuDevicePrimaryCtxRetain");
    set_current_function *set_current = FIND(driver, set_current_function, "cuCtxSetCurrent");
    alloc_function *alloc = FIND(driver, alloc_function, "cuMemAlloc_v2");
    if (!init || !retain || !set_current || !alloc)
        return -1;
    const int made = init(0) || retain(&context, 0) || set_current(context);
    return made ? made : alloc(&address, 4096);
}

/* Maps memory at the addresses of a closed library, so that nothing can be loaded there. */
static void take_places(void)
{
    for (int i = 0; i < 40; i++)
        mmap(NULL, 1 << 18, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    dlopen("libanl.so.1", RTLD_NOW);
}

static int reopen(const char *unused)
{
    (void)unused;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    printf("cuInit %s\n", found(driver ? dlsym(driver, "cuInit") : NULL));
    dlclose(driver);
    take_places();
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    printf("cuMemAlloc %d\n", use_driver(driver));
    alloc_function *alloc = FIND(RTLD_DEFAULT, alloc_function, "cuMemAlloc_v2");
    uint64_t address;
    printf("cuMemAlloc by its global name %d\n", alloc ? alloc(&address, 4096) : -1);
    return 5;
}

/* The recorder may repeat lookups in the first library. */
static int reopen_used(const char *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        printf("cuMemAlloc %d\n", use_driver(driver));
        dlclose(driver);
        take_places();
    }
    return 5;
}

/* --- while libraries come and go --- */

static atomic_bool stopped;

/* Overwrites freed memory while it opens and closes a library. So a thread that reads memory
   that the loader has freed crashes. */
static void *open_and_close(void *unused)
{
    void *blocks[8];
    (void)unused;
    for (int i = 0; i < 6000; i++) {
        void *library = dlopen("libanl.so.1", RTLD_NOW);
        if (library)
            dlclose(library);
        for (size_t k = 0; k < 8; k++)
            blocks[k] = memset(malloc(1000 + 64 * k), 0x41, 1000);
        for (size_t k = 0; k < 8; k++)
            free(blocks[k]);
    }
    stopped = true;
    return NULL;
}

static int busy_loader(const char *unused)
{
    pthread_t thread;
    unsigned long found_names = 0;
    (void)unused;
    pthread_create(&thread, NULL, open_and_close, NULL);
    while (!stopped)
        found_names += dlsym(RTLD_DEFAULT, "cudaMalloc") || dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
    pthread_join(thread, NULL);
    printf("%lu names found\n", found_names);
    return 5;
}

static rlim_t address_space_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        return RLIM_INFINITY;
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The limit allows many copies of the library, but fewer than the number of times that it is
 * opened. */
static int close_often(const char *path)
{
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};
    int opened = 0;
    printf("cuMemAlloc %d\n", use_driver(dlopen("libcuda.so.1", RTLD_NOW)));
    limit.rlim_cur = address_space_bytes() + ((rlim_t)1 << 30);
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 400; i++) {
        void *library = dlopen(path, RTLD_NOW);
        opened += library && dlclose(library) == 0;
    }
    printf("opened and closed %d times\n", opened);
    return 5;
}

/* --- while the process forks --- */

static void *look_up(void *unused)
{
    (void)unused;
    while (!stopped)
        dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
    return NULL;
}

/* If a thread of the parent held the loader's lock at the fork, the child, in which this thread
   does not exist, would wait for ever. */
static int forked_child_opens_a_library(void)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        _exit(dlopen("libanl.so.1", RTLD_NOW) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int forks(const char *unused)
{
    pthread_t thread;
    int failures = 0;
    (void)unused;
    printf("cuMemAlloc %d\n", use_driver(dlopen("libcuda.so.1", RTLD_NOW)));
    pthread_create(&thread, NULL, look_up, NULL);
    for (int i = 0; i < 300 && !failures; i++)
        failures += forked_child_opens_a_library() != 0;
    stopped = true;
    pthread_join(thread, NULL);
    printf("%d children failed\n", failures);
    return 5;
}

/* --- a library whose constructor uses CUDA --- */

GMT_EXPORT void inside_the_constructor(void);

static alloc_function *alloc;
static pthread_t caller;
static _Atomic pid_t calling;
static atomic_bool has_called;

static void *first_call(GMT_UNUSED void *nothing)
{
    uint64_t address;
    atomic_store(&calling, gettid());
    const int result = alloc(&address, 4096);
    atomic_store(&has_called, true);
    return (void *)(intptr_t)result;
}

/* The constructor continues when the other thread's call waits for the loader's lock, or has
   returned without it. */
void inside_the_constructor(void)
{
    pthread_create(&caller, NULL, first_call, NULL);
    while (!thread_is_waiting(atomic_load(&calling)) && !atomic_load(&has_called))
        sched_yield();
}

/* Two threads make first calls at once: one is in a constructor and holds the loader's lock, and
   the other needs the loader. */
static int constructor(const char *path)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *result;
    alloc = FIND(driver, alloc_function, "cuMemAlloc_v2");
    printf("library %s\n", dlopen(path, RTLD_NOW) ? "opened" : dlerror());
    pthread_join(caller, &result);
    printf("in the thread: %d\n", (int)(intptr_t)result);
    return 5;
}

static const struct {
    const char *name;
    int (*run)(const char *argument);
} modes[] = {
    {"absent", absent},           {"reopen", reopen},
    {"busy-loader", busy_loader}, {"forks", forks},
    {"constructor", constructor}, {"close-often", close_often},
    {"reopen-used", reopen_used},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argc > 2 ? argv[2] : NULL);
    fprintf(stderr, "harm_lookups: no such mode\n");
    return 9;
}
