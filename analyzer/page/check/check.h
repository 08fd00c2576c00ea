/* SPDX-License-Identifier: MIT */
/* What `check` says: the result of each limit, and who broke it. It must not hold any limit. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_CHECK_CHECK_H
#define GPUMEMTRACE_ANALYZER_PAGE_CHECK_CHECK_H

#include "analyzer/analysis/check.h"
#include "analyzer/page/page.h"

/*
 * The answer for one trace, whose results are those from `first` on: whether all limits hold, else the
 * one that is exceeded by most. *worst: that one, or the one that is nearest to its limit; NULL: none.
 */
int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   struct check_result **worst);
/* "passed" and "checks" of all traces. */
void page_check_results(struct doc *doc, const struct check_results *results);

#endif
