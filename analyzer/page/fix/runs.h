/* SPDX-License-Identifier: MIT */
/* How runs are described: a sentence's part, the fields of one, the table of all. It must not know why they were made. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_FIX_RUNS_H
#define GPUMEMTRACE_ANALYZER_PAGE_FIX_RUNS_H

#include "analyzer/fix/fix.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/text.h"

/* "peak 1.20 GiB of 1.31 GiB, 112.00 MiB spare". The same as fields: page_runs_figures. */
void page_runs_room(struct text *text, const struct trial *trial);
/* Of a run that fits: what is spare is next to nothing; "": it is not. */
const char *page_runs_scarce(const struct trial *trial);
/* "2 allocations failed for want of memory, and the program went on"; nothing where none did. */
void page_runs_refusals(struct text *text, const struct trial *trial);
void page_runs_figures(struct doc *doc, const struct trial *trial);
/* What was changed; nothing: the words for no change. */
void page_runs_change(struct doc *doc, const struct fix *fix, const struct fix_change *change,
                      const char *nothing);
void page_runs(struct doc *doc, const struct fix *fix, bool is_kept);

#endif
