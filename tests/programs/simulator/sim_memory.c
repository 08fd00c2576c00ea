/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests linear memory of the simulated driver on one device of 16 GiB: the device memory that it
 * takes, its addresses, and allocations that find no memory. The expected figures are computed
 * here, not read from the simulator.
 */
#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

static CUcontext context;

static size_t free_bytes(void)
{
    size_t left, total;
    EXPECT(cuMemGetInfo_v2(&left, &total), 0);
    EXPECT(total, 16 * GIB);
    return left;
}

static void begin(void)
{
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
}

static void end(void)
{
    EXPECT(cuCtxDestroy_v2(context), 0);
}

static size_t round_up(size_t size_bytes, size_t unit_bytes)
{
    return (size_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

/* 6.3 Initialization, cuInit: CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT before it. */
PART(needs_init_and_a_context)
{
    CUdeviceptr address = 7;
    size_t left, total;
    EXPECT(cuMemAlloc_v2(&address, 1), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuInit(0), 0);
    EXPECT(cuInit(0), 0);
    EXPECT(cuMemAlloc_v2(&address, 1), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuMemGetInfo_v2(&left, &total), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(cuMemFree_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(address, 7);
}

/* 6.13 Memory Management, cuMemAlloc, cuMemAllocPitch, cuMemFree: CUDA_ERROR_INVALID_VALUE. */
PART(refuses_what_is_no_allocation)
{
    CUdeviceptr address = 7;
    begin();
    EXPECT(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc_v2(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(address, 7);
    EXPECT(cuMemFree_v2(0), 0);
    EXPECT(cuMemFree_v2(7), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAlloc_v2(&address, 4096), 0);
    EXPECT(cuMemFree_v2(address + 512), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    end();
}

PART(a_first_context_costs_300MiB)
{
    CUcontext second;
    begin();
    EXPECT(free_bytes(), 16 * GIB - CONTEXT_COST);
    EXPECT(cuCtxCreate_v2(&second, 0, 0), 0);
    EXPECT(free_bytes(), 16 * GIB - CONTEXT_COST);
    EXPECT(cuCtxDestroy_v2(second), 0);
    EXPECT(free_bytes(), 16 * GIB - CONTEXT_COST);
    end();
}

PART(large_blocks_are_rounded_to_2MiB)
{
    CUdeviceptr a, b;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc_v2(&a, GRANULE), 0);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemAlloc_v2(&b, GRANULE + 1), 0);
    EXPECT(free_bytes(), before - 3 * GRANULE);
    EXPECT(a % GRANULE, 0);
    EXPECT(b % GRANULE, 0);
    EXPECT(cuMemFree_v2(a), 0);
    EXPECT(cuMemFree_v2(b), 0);
    EXPECT(free_bytes(), before);
    end();
}

/* 6.13, cuMemAlloc: aligned for any variable. Sharing granules is the simulator's choice. */
PART(small_blocks_share_a_granule)
{
    enum { COUNT = 4096 }; /* of 512 bytes: exactly one granule */
    CUdeviceptr blocks[COUNT], another;
    begin();
    const size_t before = free_bytes();
    for (int i = 0; i < COUNT; i++) {
        EXPECT(cuMemAlloc_v2(&blocks[i], 1 + (size_t)i % 512), 0);
        EXPECT(blocks[i] % 512, 0);
        EXPECT(blocks[i] / GRANULE, blocks[0] / GRANULE);
    }
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemAlloc_v2(&another, 1), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    for (int i = 1; i < COUNT; i++)
        EXPECT(cuMemFree_v2(blocks[i]), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE); /* one block still holds the granule */
    EXPECT(cuMemFree_v2(blocks[0]), 0);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemFree_v2(another), 0);
    EXPECT(free_bytes(), before);
    end();
}

PART(contexts_do_not_share_granules)
{
    CUcontext second;
    CUdeviceptr a, b;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc_v2(&a, 100), 0);
    EXPECT(cuCtxCreate_v2(&second, 0, 0), 0);
    EXPECT(cuMemAlloc_v2(&b, 100), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuCtxDestroy_v2(second), 0);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemFree_v2(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(a), 0);
    end();
}

PART(a_hole_is_filled_by_the_block_that_fits_it_best)
{
    CUdeviceptr blocks[5], again;
    static const size_t sizes[5] = {8, 2, 6, 2, 4}; /* granules; [1], [3]: between the holes */
    begin();
    for (int i = 0; i < 5; i++)
        EXPECT(cuMemAlloc_v2(&blocks[i], sizes[i] * GRANULE), 0);
    EXPECT(cuMemFree_v2(blocks[0]), 0); /* a hole of 8 */
    EXPECT(cuMemFree_v2(blocks[2]), 0); /* a hole of 6 */
    EXPECT(cuMemAlloc_v2(&again, 5 * GRANULE), 0);
    EXPECT(again, blocks[2]);
    EXPECT(cuMemAlloc_v2(&again, GRANULE), 0);
    EXPECT(again, blocks[2] + 5 * GRANULE);
    EXPECT(cuMemAlloc_v2(&again, 3 * GRANULE), 0);
    EXPECT(again, blocks[0]);
    EXPECT(cuMemFree_v2(blocks[1]), 0); /* the holes around it become one */
    EXPECT(cuMemAlloc_v2(&again, 7 * GRANULE), 0);
    EXPECT(again, blocks[0] + 3 * GRANULE);
    end();
}

/* 6.13, cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY. */
PART(out_of_memory_is_exact_and_changes_nothing)
{
    CUdeviceptr address = 7, rest = 7;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAlloc_v2(&address, before + 1), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemAlloc_v2(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(address, 7);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemAlloc_v2(&address, before), 0);
    EXPECT(free_bytes(), 0);
    EXPECT(cuMemAlloc_v2(&rest, 1), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(free_bytes(), before);
    end();
}

PART(holes_in_the_addresses_are_no_lack_of_memory)
{
    enum { COUNT = 100 };
    CUdeviceptr blocks[COUNT], large;
    begin();
    const size_t each = free_bytes() / COUNT / GRANULE * GRANULE;
    for (int i = 0; i < COUNT; i++)
        EXPECT(cuMemAlloc_v2(&blocks[i], each), 0);
    for (int i = 0; i < COUNT; i += 2)
        EXPECT(cuMemFree_v2(blocks[i]), 0);
    EXPECT(cuMemAlloc_v2(&large, COUNT / 2 * each), 0); /* larger than any hole */
    end();
}

/* 6.13, cuMemAllocPitch. */
PART(a_pitch_is_the_width_rounded_to_512)
{
    CUdeviceptr address = 7;
    size_t pitch = 7, size;
    CUdeviceptr base;
    begin();
    const size_t before = free_bytes();
    EXPECT(cuMemAllocPitch_v2(&address, &pitch, 1000, 3000, 4), 0);
    EXPECT(pitch, 1024);
    EXPECT(free_bytes(), before - round_up((size_t)1024 * 3000, GRANULE));
    EXPECT(cuMemGetAddressRange_v2(&base, &size, address + 5000), 0);
    EXPECT(base, address);
    EXPECT(size, (size_t)1024 * 3000);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuMemAllocPitch_v2(&address, &pitch, 1000, 3000, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocPitch_v2(&address, &pitch, 0, 3000, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocPitch_v2(&address, &pitch, SIZE_MAX / 2, 3, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAllocPitch_v2(&address, &pitch, 1 << 20, SIZE_MAX / 2, 4),
           CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(free_bytes(), before);
    end();
}

/* --- a long random run against a separate model --- */

enum { SLOTS = 400, STEPS = 40000 };

struct slot {
    CUdeviceptr address;
    size_t size_bytes;
};

static struct slot slots[SLOTS];
static uint64_t random_state = 12345;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % limit;
}

static size_t random_size(void)
{
    switch (random_below(4)) {
    case 0:
        return 1 + random_below(2000);
    case 1:
        return 1 + random_below(GRANULE - 1);
    case 2:
        return GRANULE + random_below(20 * MIB);
    default:
        return 1 + random_below(200 * MIB);
    }
}

static void check_apart(size_t own)
{
    const CUdeviceptr start = slots[own].address, past = start + slots[own].size_bytes;
    for (size_t i = 0; i < SLOTS; i++)
        if (i != own && slots[i].size_bytes)
            CHECK(past <= slots[i].address || slots[i].address + slots[i].size_bytes <= start);
}

/* Large blocks take exactly their size. Small blocks together take at least their sum, and at
   most a granule each. */
static void check_cost(size_t before)
{
    size_t large = 0, small = 0, small_count = 0;
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].size_bytes >= GRANULE) {
            large += round_up(slots[i].size_bytes, GRANULE);
        } else if (slots[i].size_bytes) {
            small += round_up(slots[i].size_bytes, 512);
            small_count++;
        }
    const size_t used = before - free_bytes();
    CHECK(used % GRANULE == 0);
    CHECK(used >= large + round_up(small, GRANULE));
    CHECK(used <= large + small_count * GRANULE);
}

static void step(size_t before)
{
    struct slot *slot = &slots[random_below(SLOTS)];
    if (slot->size_bytes) {
        EXPECT(cuMemFree_v2(slot->address), 0);
        slot->size_bytes = 0;
        return;
    }
    const size_t size_bytes = random_size();
    const size_t left = free_bytes();
    const CUresult result = cuMemAlloc_v2(&slot->address, size_bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        CHECK(round_up(size_bytes, GRANULE) > left);
        EXPECT(free_bytes(), left);
        return;
    }
    EXPECT(result, 0);
    slot->size_bytes = size_bytes;
    EXPECT(slot->address % 512, 0);
    check_apart((size_t)(slot - slots));
    check_cost(before);
}

PART(a_long_random_run_adds_up)
{
    begin();
    const size_t before = free_bytes();
    for (int i = 0; i < STEPS; i++)
        step(before);
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].size_bytes)
            EXPECT(cuMemFree_v2(slots[i].address), 0);
    EXPECT(free_bytes(), before);
    end();
}

SIM_MAIN()
