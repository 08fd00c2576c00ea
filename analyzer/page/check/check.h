/* SPDX-License-Identifier: MIT */
/* The verdict of `check`: the result of each limit, and who broke it. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_CHECK_CHECK_H
#define GPUMEMTRACE_ANALYZER_PAGE_CHECK_CHECK_H

#include "analyzer/analysis/check.h"
#include "analyzer/page/page.h"

/*
 * The answer for one trace, whose results begin at `first`: all limits hold, or the one that is
 * exceeded most. *worst: that one or, if all hold, the one that is nearest to its limit; NULL:
 * there is none.
 */
int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   struct check_result **worst);
/* Adds "passed" and "checks" of all traces. */
void page_check_results(struct doc *doc, const struct check_results *results);

#endif
