/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Allocates on four threads under random stacks of functions, whose frames have every layout that
 * the compiler generates; also in signal handlers, on alternate stacks, and after exceptions:
 *
 *     stack_shapes ROUNDS
 *
 * Prints for each allocation its bytes and the return addresses that libgcc's unwinder finds,
 * innermost first.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gpumemtrace/cuda/abi.h"

#define NOINLINE __attribute__((noinline))
#define NO_TAIL_CALL() __asm__ volatile("")

enum { FRAMES_MAX = 120, DEPTH_MAX = 14, THREADS = 3 };

static std::mutex out_lock;
static std::atomic<unsigned long> next_bytes{1};

/* The random numbers of one thread, the same in every run. */
struct dice {
    uint32_t state;

    unsigned below(unsigned limit)
    {
        state = state * 1103515245 + 12345;
        return (state >> 12) % limit;
    }
};

/* A signal handler has no argument, so it finds its dice here. */
static thread_local dice *waiting_dice;
static thread_local int waiting_depth;

static void go_on(dice &dice, int depth);

NOINLINE static void allocate()
{
    void *frames[FRAMES_MAX], *block = nullptr;
    const unsigned long bytes = next_bytes++;
    const int count = backtrace(frames, FRAMES_MAX);
    if (cudaMalloc(&block, bytes) != cudaSuccess || cudaFree(block) != cudaSuccess)
        abort();
    std::lock_guard<std::mutex> guard(out_lock);
    printf("%lu", bytes);
    for (int i = 1; i < count; i++)
        printf(" %lx", (unsigned long)frames[i]);
    putchar('\n');
}

NOINLINE static void plain(dice &dice, int depth)
{
    go_on(dice, depth);
    NO_TAIL_CALL();
}

NOINLINE static void of_variable_size(dice &dice, int depth)
{
    volatile char *bytes = (volatile char *)__builtin_alloca(16 + dice.below(3000));
    bytes[0] = 1;
    go_on(dice, depth);
    bytes[1] = 1;
}

NOINLINE static void large(dice &dice, int depth)
{
    volatile char bytes[20000];
    bytes[0] = 1;
    go_on(dice, depth);
    bytes[1] = 1;
}

NOINLINE static void aligned(dice &dice, int depth)
{
    alignas(1024) volatile char bytes[2048];
    bytes[0] = 1;
    go_on(dice, depth);
    bytes[1] = 1;
}

NOINLINE static void with_arguments_on_the_stack(dice &dice, int a, int b, int c, int d, int e, int f,
                                                 int depth)
{
    go_on(dice, depth);
    if (a + b + c + d + e + f < 0)
        allocate();
}

NOINLINE static void through_a_template(dice &dice, int depth)
{
    int numbers[] = {3, 1, 2};
    bool first = true;
    const std::function<bool(int, int)> less = [&](int a, int b) {
        if (first) {
            first = false;
            go_on(dice, depth);
        }
        return a < b;
    };
    std::sort(numbers, numbers + 3, less);
}

static int compare_waiting(const void *, const void *)
{
    go_on(*waiting_dice, waiting_depth);
    return 0;
}

NOINLINE static void through_libc(dice &dice, int depth)
{
    int numbers[] = {2, 1};
    waiting_dice = &dice;
    waiting_depth = depth;
    qsort(numbers, 2, sizeof *numbers, compare_waiting);
    NO_TAIL_CALL();
}

NOINLINE static void behind_an_exception(dice &dice, int depth)
{
    try {
        go_on(dice, depth);
        if (dice.below(3) == 0)
            throw 1;
    } catch (int) {
        allocate();
    }
}

static void handle(int)
{
    go_on(*waiting_dice, waiting_depth);
}

NOINLINE static void in_a_handler(dice &dice, int depth)
{
    waiting_dice = &dice;
    waiting_depth = depth;
    raise(SIGUSR1);
    NO_TAIL_CALL();
}

/* --- a stack of its own, with nothing readable before and behind it --- */

static thread_local ucontext_t here, elsewhere;

static void go_on_elsewhere()
{
    go_on(*waiting_dice, waiting_depth);
}

NOINLINE static void on_another_stack(dice &dice, int depth)
{
    const size_t page = 4096, size = page * (24 + dice.below(40));
    char *memory = (char *)mmap(nullptr, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + page, size, PROT_READ | PROT_WRITE);
    getcontext(&elsewhere);
    elsewhere.uc_stack.ss_sp = memory + page;
    elsewhere.uc_stack.ss_size = size;
    elsewhere.uc_link = &here;
    waiting_dice = &dice;
    waiting_depth = depth;
    makecontext(&elsewhere, go_on_elsewhere, 0);
    swapcontext(&here, &elsewhere);
    munmap(memory, size + 2 * page);
}

/* --- */

static void go_on(dice &dice, int depth)
{
    if (depth <= 0 || dice.below(7) == 0)
        allocate();
    if (depth-- <= 0)
        return;
    switch (dice.below(9)) {
    case 0:
        return plain(dice, depth);
    case 1:
        return of_variable_size(dice, depth);
    case 2:
        return large(dice, depth);
    case 3:
        return aligned(dice, depth);
    case 4:
        return with_arguments_on_the_stack(dice, 1, 2, 3, 4, 5, 6, depth);
    case 5:
        return through_a_template(dice, depth);
    case 6:
        return through_libc(dice, depth);
    case 7:
        return behind_an_exception(dice, depth);
    default:
        return in_a_handler(dice, depth);
    }
}

static void run(unsigned seed, int rounds)
{
    dice dice{seed};
    for (int i = 0; i < rounds; i++) {
        go_on(dice, (int)dice.below(DEPTH_MAX));
        on_another_stack(dice, 2);
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    struct sigaction action = {};
    std::vector<std::thread> threads;
    action.sa_handler = handle;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, nullptr);
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(run, i, rounds);
    run(THREADS, rounds);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
