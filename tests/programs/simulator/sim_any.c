/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests a simulated card without limit ("any"): the memory that it reports, and that no allocation
 * fails for lack of memory.
 */
#include "sim_device.h"

#define TIB ((size_t)1 << 40)

static size_t total_bytes(void)
{
    size_t left, total;
    EXPECT(cuMemGetInfo_v2(&left, &total), 0);
    return total;
}

PART(it_shows_1_tib_with_a_context_in_it)
{
    size_t total = 0;
    begin_cuda();
    EXPECT(cuDeviceTotalMem_v2(&total, 0), 0);
    EXPECT(total, TIB);
    EXPECT(total_bytes(), TIB);
    EXPECT(free_bytes(), TIB - 300 * MIB);
}

/* If the process holds more memory than the total, the total grows, so that used = total - free
   stays right. */
PART(what_is_held_beyond_is_the_total)
{
    CUdeviceptr some[3];
    begin_cuda();
    for (int i = 0; i < 3; i++)
        EXPECT(cuMemAlloc_v2(&some[i], 700 * GIB), 0);
    EXPECT(free_bytes(), 0);
    EXPECT(total_bytes(), 2100 * GIB + 300 * MIB);
    for (int i = 0; i < 3; i++)
        EXPECT(cuMemFree_v2(some[i]), 0);
    EXPECT(total_bytes(), TIB);
    EXPECT(free_bytes(), TIB - 300 * MIB);
}

/* An allocation that is larger than the address space is refused. */
PART(what_no_address_space_holds_is_refused)
{
    CUdeviceptr address;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&address, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(free_bytes(), TIB - 300 * MIB);
}

PART(small_blocks_share_granules_as_on_a_card)
{
    CUdeviceptr first, second;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&first, 1000), 0);
    EXPECT(cuMemAlloc_v2(&second, 1000), 0);
    EXPECT(free_bytes(), TIB - 302 * MIB);
}

SIM_MAIN()
