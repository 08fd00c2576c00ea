/* SPDX-License-Identifier: MIT */
/* Sums and products of sizes. If one is too large, it becomes UINT64_MAX. */
#pragma once

#include <stdint.h>

static inline uint64_t saturated_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t saturated_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
