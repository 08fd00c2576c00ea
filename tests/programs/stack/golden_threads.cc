/* SPDX-License-Identifier: MIT */
// link: cudart13
/*
 * Two threads that allocate, one after the other, and the main thread.
 * tests/golden/threads.txt holds their stacks, with the line numbers of this file.
 */
#include "gpumemtrace/cuda/abi.h"

#include <cstdlib>
#include <thread>

static volatile int keep; /* used after calls, to prevent tail calls */

__attribute__((noinline)) static void allocate(size_t mebibytes)
{
    void *block = nullptr;
    if (cudaMalloc(&block, mebibytes << 20) != 0)
        std::abort();
    keep++;
}

__attribute__((noinline)) static void load_batches()
{
    allocate(3);
    keep++;
}

struct Gradients {
    __attribute__((noinline)) void operator()(size_t mebibytes)
    {
        allocate(mebibytes);
        keep++;
    }
};

int main()
{
    std::thread(load_batches).join();
    std::thread(Gradients(), 2).join();
    allocate(1);
    return keep > 0 ? 0 : 1;
}
