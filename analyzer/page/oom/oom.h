/* SPDX-License-Identifier: MIT */
/* What the files of the page of `oom` share. It must not know other pages. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_OOM_H
#define GPUMEMTRACE_ANALYZER_PAGE_OOM_H

#include "analyzer/analysis/study.h"
#include "analyzer/oom/oom.h"
#include "analyzer/util/text.h"

/* Why, without a capital or a full stop: "1.00 GiB lay idle in …". */
void page_oom_explain(struct text *out, const struct oom *oom);

/* Whether the view asks for it, by device and layer. */
bool page_oom_shows(const struct study *study, const struct view *view,
                    const struct failure *failure);

/* The failure that the answer speaks of; NULL: none is shown. */
const struct failure *page_oom_chosen(const struct study *study, const struct view *view);

#endif
