/* SPDX-License-Identifier: MIT */
/* What `check` says: the result of each limit, and who broke it. It must not hold any limit. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_CHECK_H
#define GPUMEMTRACE_ANALYZER_PAGE_CHECK_H

#include "opening.h"
#include "page.h"
#include "analyzer/analysis/check.h"
#include "analyzer/analysis/grown.h"

/*
 * "grown": the call stacks that grew from one side to the other, inside a device; before->index is
 * HISTORY_NONE where there is nothing to compare with. has_baseline says so to the reader.
 */
int page_check_grown(struct doc *doc, const struct grown_side *before,
                     const struct grown_side *after, bool has_baseline, const struct view *view,
                     struct err *err);
/*
 * The answer for one trace, whose results are those from `first` on: whether all limits hold, else the
 * one that is exceeded by most. *worst: that one, or the one that is nearest to its limit; NULL: none.
 */
int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   const struct check_result **worst);
/* Who holds most of what grew from one side to the other. */
int page_check_say_grown(struct opening *opening, const struct grown_side *before,
                         const struct grown_side *after, bool has_baseline, struct err *err);
/* "passed" and "checks" of all traces. */
void page_check_results(struct doc *doc, const struct check_results *results);

#endif
