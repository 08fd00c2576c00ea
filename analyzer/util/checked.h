/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that remembers overflow, so that a formula is checked once, at its end. The limit is
 * INT64_MAX, the largest integer that JSON and SQLite carry here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"

struct checked {
    bool overflow; /* stays set; results are then meaningless */
};

static inline uint64_t checked_mul(struct checked *checked, uint64_t a, uint64_t b)
{
    int64_t result = 0;
    checked->overflow |= GMT_MUL_OVERFLOWS(a, b, &result);
    return (uint64_t)result;
}

static inline uint64_t checked_add(struct checked *checked, uint64_t a, uint64_t b)
{
    int64_t result = 0;
    checked->overflow |= GMT_ADD_OVERFLOWS(a, b, &result);
    return (uint64_t)result;
}

static inline uint64_t checked_mul3(struct checked *checked, uint64_t a, uint64_t b, uint64_t c)
{
    return checked_mul(checked, checked_mul(checked, a, b), c);
}
