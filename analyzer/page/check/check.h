/* SPDX-License-Identifier: MIT */
/* The verdict of `check`: the result of each limit, and the line that broke it. */
#pragma once

#include "analyzer/analysis/check.h"
#include "analyzer/page/page.h"

/*
 * Adds the answer for one trace, whose results begin at `first`: all limits hold, or one limit is
 * exceeded most. *worst is that limit. If all limits hold, it is the limit that is nearest to being
 * exceeded. NULL: there is none.
 */
int page_check_say(struct opening *opening, const struct check_results *results, size_t first,
                   struct check_result **worst);
/* Adds "passed" and "checks" of all traces. */
void page_check_results(struct doc *doc, const struct check_results *results);
