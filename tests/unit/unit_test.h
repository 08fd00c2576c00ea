/* SPDX-License-Identifier: MIT */
/*
 * What each unit test begins with: cmocka, and a list of the file's tests, which fills itself. The
 * tests run in the order in which they stand.
 *
 *   TEST(name) { ... }                         a test
 *   TEST_WITH(name, set_up, tear_down) { ... } a test between two of cmocka's fixtures; NULL: none
 *   UNIT_MAIN(set_up, tear_down)               the main function, with the fixtures of all tests
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "gpumemtrace/compiler.h"

enum { UNIT_TESTS_MAX = 64 };

static struct CMUnitTest unit_tests[UNIT_TESTS_MAX]; /* unused ones, at the end, have no name */
static size_t unit_test_count;

static inline void unit_test_add(struct CMUnitTest test)
{
    if (unit_test_count == UNIT_TESTS_MAX)
        abort();
    unit_tests[unit_test_count++] = test;
}

#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        unit_test_add(                                                                             \
            (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, tear_down));          \
    }                                                                                              \
    static void name(void **state GMT_UNUSED)

#define TEST(name) TEST_WITH(name, NULL, NULL)

#define UNIT_MAIN(set_up, tear_down)                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        return cmocka_run_group_tests(unit_tests, set_up, tear_down);                              \
    }
