/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Requests two address ranges that the driver refuses, as if no such range were left. Then requests
 * memory, which the driver also refuses: `refused_ranges N` requests memory N times.
 */
#include <stdlib.h>

#include "gpumemtrace/cuda/abi.h"

int main(int argc, char **argv)
{
    const size_t granule_bytes = (size_t)2 << 20;
    CUcontext context;
    CUdeviceptr address;
    if (argc != 2 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 9;
    for (int i = 0; i < 2; i++)
        if (!cuMemAddressReserve(&address, granule_bytes + 1, 0, 0, 0))
            return 1;
    for (int i = atoi(argv[1]); i > 0; i--)
        if (!cuMemAlloc_v2(&address, (size_t)1 << 40))
            return 1;
    return 0;
}
