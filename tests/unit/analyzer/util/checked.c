/* SPDX-License-Identifier: MIT */
/* The checked arithmetic of the estimate remembers an overflow. */
#include "analyzer/util/checked.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void arithmetic_remembers_an_overflow(void **state)
{
    const uint64_t half = UINT64_C(1) << 31;
    struct checked checked = {false};
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_remembers_an_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
