/* SPDX-License-Identifier: MIT */
/* The checked arithmetic of the estimate remembers an overflow. */
#include "analyzer/util/checked.h"
#include "tests/unit/unit_test.h"

TEST(arithmetic_remembers_an_overflow)
{
    const uint64_t half = UINT64_C(1) << 31;
    struct checked checked = {false};
    assert_int_equal(checked_mul(&checked, half, half), UINT64_C(1) << 62);
    assert_int_equal(checked_add(&checked, INT64_MAX - 1, 1), INT64_MAX);
    assert_false(checked.overflow);
    checked_add(&checked, INT64_MAX, 1);
    assert_true(checked.overflow);
    assert_int_equal(checked_mul(&checked, 2, 3), 6);
    assert_true(checked.overflow);
    checked = (struct checked){false};
    checked_mul(&checked, UINT64_C(1) << 32, UINT64_C(1) << 32);
    assert_true(checked.overflow);
    checked = (struct checked){false};
    checked_mul3(&checked, half, half, 2);
    assert_true(checked.overflow);
}

UNIT_MAIN(NULL, NULL)
