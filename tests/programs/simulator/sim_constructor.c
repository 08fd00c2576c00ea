/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Opens the library named by an argument, whose constructor calls back into this program while the
 * loader's lock is held. Another thread makes the process's first call of the function that a
 * second argument names. When this thread waits for the loader's lock, the constructor makes the
 * second call. A simulator that waits for the loader while it holds a lock of its own deadlocks
 * here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"
#include "tests/programs/harm/thread_state.h"

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

void inside_the_constructor(void)
{
    EXPECT(pthread_create(&first, NULL, make_first_call, NULL), 0);
    while (!thread_is_waiting(atomic_load(&first_thread)))
        sched_yield();
    make_call();
}

int main(int argc, char **argv)
{
    EXPECT(argc, 3);
    call_name = argv[2];
    CHECK(dlopen(argv[1], RTLD_NOW));
    EXPECT(pthread_join(first, NULL), 0);
    return 0;
}
