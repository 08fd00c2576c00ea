/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Allocates and frees 70,000 times and kills itself at once: some of these events are then in the
 * database, and the rest are in the ring.
 */
#include <signal.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"

enum { PAIRS = 70000 };

int main(void)
{
    CUcontext context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 9;
    for (int i = 0; i < PAIRS; i++) {
        CUdeviceptr address;
        if (cuMemAlloc_v2(&address, 256 + (size_t)(i % 64) * 512) || cuMemFree_v2(address))
            return 8;
    }
    kill(getpid(), SIGKILL);
    return 7;
}
