/* SPDX-License-Identifier: MIT */
/* What would have helped, as a page says it. It must not know how it is computed. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_REMEDIES_H
#define GPUMEMTRACE_ANALYZER_PAGE_REMEDIES_H

#include "page.h"

/* "remedies" of the trace: what to do, what it would have gained, what that supposes. */
page_part page_remedies;
/* Of an answer, the sentence that names the two that would have gained most. */
page_answer page_remedies_best;

#endif
