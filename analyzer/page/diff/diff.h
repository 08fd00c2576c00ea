/* SPDX-License-Identifier: MIT */
/* The page of `diff`, and the trace that it is compared with. */
#pragma once

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

struct page_diff_options {
    const struct study *before;
    const char *at[2]; /* before and after, as moment.h parses it; NULL: the peak */
    int by;            /* enum diff_by; 0: by site */
};

extern const struct page page_diff;

/* Fills in all that the page needs of the earlier trace. */
void page_diff_ask_before(struct reading_ask *ask, const struct view *view);
