/* SPDX-License-Identifier: MIT */
/* A program that calls from very many lines of one function, each as often as the others. */
#include <stdlib.h>

#include "analyzer/analysis/steps/site_period.h"
#include "tests/unit/unit_test.h"

enum { SITES = 50000, ROUNDS = 5, MAIN = 1 };

/* Frame 1 is the function; frame 2 + n is its line n, on which site n allocates once per round. */
TEST(the_work_for_the_order_of_lines_grows_no_faster_than_their_number)
{
    struct trace trace = {.frame_limit = SITES + 2};
    struct account_ends own = {.count = SITES, .pair_count = SITES};
    struct step_period period;
    struct err err = {0};
    trace.frames = calloc(trace.frame_limit, sizeof *trace.frames);
    own.sites = calloc(SITES, sizeof *own.sites);
    own.pairs = calloc(SITES, sizeof *own.pairs);
    assert_true(trace.frames && own.sites && own.pairs);
    trace.frames[MAIN] = (struct trace_frame){.kind = FRAME_NATIVE, .present = true, .address = 1};
    for (uint32_t n = 0; n < SITES; n++) {
        const uint32_t id = MAIN + 1 + n;
        trace.frames[id] = (struct trace_frame){MAIN, FRAME_NATIVE, true, id};
        own.sites[n].site_id = id;
        own.sites[n].blocks.births_count = ROUNDS;
        own.sites[n].blocks.most_live_count = 1;
        own.pairs[n] = (struct birth_pair){n, (n + 1) % SITES, ROUNDS - (n + 1 == SITES)};
    }
    assert_int_equal(site_period_find(&period, &own, &trace, &err), 0);
    assert_int_equal(period.site_id, MAIN + 1);
    assert_true(period.work_count < UINT64_C(20) * SITES);
    step_period_release(&period);
    free(trace.frames);
    free(own.sites);
    free(own.pairs);
}

UNIT_MAIN(NULL, NULL)
