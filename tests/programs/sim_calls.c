/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Prints the results of a fixed row of driver calls, to be run with GPUMEMTRACE_SIM_FAULT: three
 * allocations of 4 MiB, the frees of those that there are, and how much memory is missing at last.
 */
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

int main(void)
{
    CUcontext context;
    CUdeviceptr blocks[3] = {7, 7, 7};
    size_t before, after, total;
    CUgraphicsResource resource = NULL;
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
    printf(" map %d\n", (int)cuGraphicsMapResources(1, &resource, NULL));
    return 0;
}
