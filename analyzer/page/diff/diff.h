/* SPDX-License-Identifier: MIT */
/* The page of `diff`, and the trace that it compares with. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_DIFF_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_DIFF_H

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

struct page_diff_options {
    const struct study *before;
    const char *at[2]; /* before and after, as moment.h parses it; NULL: the peak */
    int by;            /* enum diff_by; 0: by site */
};

extern const struct page page_diff;

/* Opens the earlier trace for page_diff_options. On -1 nothing has to be released. */
int page_diff_open(struct study *before, const char *path, const struct view *view,
                   struct err *err);

#endif
