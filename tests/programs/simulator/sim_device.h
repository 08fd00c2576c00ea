/* SPDX-License-Identifier: MIT */
/*
 * Has what the test programs of the simulated driver share: creates a context and reads the free
 * memory of the context's device.
 */
#pragma once

#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

static CUcontext context;

static inline void begin_cuda(void)
{
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
}

static inline size_t free_bytes(void)
{
    size_t left, total;
    EXPECT(cuMemGetInfo_v2(&left, &total), 0);
    return left;
}
