/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Prints the results of a fixed sequence of driver calls, to be run with GPUMEMTRACE_SIM_FAULT:
 * three allocations of 4 MiB, the frees of those that succeeded, and how much memory was not freed.
 */
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

/* Not simulated, so no header declares it. */
CUresult cuDeviceGetLuid(char *luid, unsigned int *mask, CUdevice device);

int main(void)
{
    CUcontext context;
    CUdeviceptr blocks[3] = {7, 7, 7};
    size_t before, after, total;
    printf("init %d", (int)cuInit(0));
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuMemGetInfo_v2(&before, &total), 0);
    printf(" alloc");
    for (int i = 0; i < 3; i++)
        printf(" %d", (int)cuMemAlloc_v2(&blocks[i], 4 * MIB));
    printf(" free");
    for (int i = 0; i < 3; i++)
        if (blocks[i] != 7)
            printf(" %d", (int)cuMemFree_v2(blocks[i]));
    EXPECT(cuMemGetInfo_v2(&after, &total), 0);
    printf(" missing %zu MiB", (before - after) / MIB);
    printf(" bodiless %d\n", (int)cuDeviceGetLuid(NULL, NULL, 0));
    return 0;
}
