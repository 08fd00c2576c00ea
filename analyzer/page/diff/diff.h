/* SPDX-License-Identifier: MIT */
/* What the page of diff compares the trace with. It must not know options. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_DIFF_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_DIFF_H

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

struct page_diff_options {
    const struct study *before;
    const char *at[2]; /* as moment.h has it; NULL: the peak */
    int by;            /* enum diff_by; 0: by site */
};

extern const struct page page_diff;

/* The trace before, ready for page_diff_options. On -1 nothing has to be released. */
int page_diff_open(struct study *before, const char *path, const struct view *view,
                   struct err *err);

#endif
