/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Opens the library it is told, whose constructor calls back here, inside the loader: another
 * thread makes this process's first call of the function it is told, and when it waits (for the
 * loader, which is held) the constructor makes the second. Who waits under a lock of its own never
 * ends.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

GMT_EXPORT void inside_the_constructor(void);

static _Atomic pid_t first_thread;
static pthread_t first;

static const char *call_name;

static void make_call(void)
{
    void *block;
    int version;
    if (strcmp(call_name, "cudaMalloc") == 0)
        EXPECT(cudaMalloc(&block, MIB), 0);
    else
        EXPECT(cudaRuntimeGetVersion(&version), 0);
}

static void *make_first_call(GMT_UNUSED void *nothing)
{
    atomic_store(&first_thread, gettid());
    make_call();
    return NULL;
}

/* Does the system say that the thread sleeps? Then it waits for a lock: it does nothing else. */
static bool is_waiting(pid_t thread)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = thread ? fopen(path, "r") : NULL;
    if (file) {
        CHECK(fgets(line, sizeof line, file));
        fclose(file);
    }
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] && name_end[2] == 'S';
}

void inside_the_constructor(void)
{
    EXPECT(pthread_create(&first, NULL, make_first_call, NULL), 0);
    while (!is_waiting(atomic_load(&first_thread)))
        sched_yield();
    make_call();
}

int main(int argc, char **argv)
{
    EXPECT(argc, 3);
    call_name = argv[2];
    alarm(30);
    CHECK(dlopen(argv[1], RTLD_NOW));
    EXPECT(pthread_join(first, NULL), 0);
    return 0;
}
