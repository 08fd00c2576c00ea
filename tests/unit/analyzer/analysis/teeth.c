/* SPDX-License-Identifier: MIT */
/* Series of live bytes, and the teeth that they are cut into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analysis/steps/teeth.h"

enum { SAMPLES = 16 };

static const struct {
    const char *name;
    size_t count;
    uint64_t samples[SAMPLES];
    size_t teeth;
    double slope;
    size_t collapsed_at;
    bool is_equal, is_over;
} cases[] = {
    {"rises", 6, {1, 2, 3, 4, 5, 6}, 0, 0, 0, false, false},
    {"rises and is freed", 10, {16, 32, 48, 64, 80, 96, 16, 32, 48, 64}, 1, 16, 6, false, false},
    {"is freed at the end", 6, {1, 2, 3, 4, 5, 0}, 1, 1, 5, false, false},
    {"freed every five", 13, {1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3}, 2, 1, 9, true, false},
    {"irregular", 14, {1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0}, 2, 1, 13, false, false},
    {"freed early, then no more", 12, {1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7}, 1, 1, 4, false, false},
    {"freed long ago", 14, {1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 4, false, true},
    {"falls by less than half", 9, {1, 2, 3, 4, 5, 4, 5, 6, 7}, 0, 0, 0, false, false},
    {"two rises are no tooth", 8, {1, 2, 3, 1, 2, 3, 1, 2}, 0, 0, 0, false, false},
    {"rises seldom", 9, {1, 1, 1, 1, 1, 2, 3, 4, 0}, 0, 0, 0, false, false},
    {"no samples", 0, {0}, 0, 0, 0, false, false},
};

static void a_series_is_cut_where_it_collapses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct teeth teeth = teeth_find(cases[i].samples, cases[i].count);
        if (teeth.count != cases[i].teeth || teeth.slope < cases[i].slope ||
            teeth.slope > cases[i].slope || teeth.collapsed_at != cases[i].collapsed_at ||
            teeth_are_equal(&teeth) != cases[i].is_equal || teeth.is_over != cases[i].is_over)
            fail_msg("%s: %zu teeth, slope %g, collapse at %zu, equal %d, over %d", cases[i].name,
                     teeth.count, teeth.slope, teeth.collapsed_at, teeth_are_equal(&teeth),
                     teeth.is_over);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_is_cut_where_it_collapses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
