/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * With device 0 current, allocates memory of device 1 from its pool and as VMM objects, until an
 * allocation is too large.
 */
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

int main(void)
{
    const CUmemAllocationProp on_1 = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    CUmemGenericAllocationHandle handle;
    CUmemoryPool pool;
    CUdeviceptr address;
    CUcontext contexts[2];
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&contexts[1], 1) ||
        cuDevicePrimaryCtxRetain(&contexts[0], 0) || cuCtxSetCurrent(contexts[0]))
        return 9;
    if (cuDeviceGetDefaultMemPool(&pool, 1) || cuMemAllocFromPoolAsync(&address, MIB, pool, NULL) ||
        cuMemCreate(&handle, 2 * MIB, &on_1, 0))
        return 8;
    return cuMemCreate(&handle, (size_t)64 << 30, &on_1, 0) == CUDA_ERROR_OUT_OF_MEMORY ? 0 : 7;
}
