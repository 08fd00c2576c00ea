/* SPDX-License-Identifier: MIT */
/* How runs are described: as part of a sentence, as the fields of one run, as the table of all. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_FIX_RUNS_H
#define GPUMEMTRACE_ANALYZER_PAGE_FIX_RUNS_H

#include "analyzer/fix/fix.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/text.h"

/* "peak 1.20 GiB of 1.31 GiB, 112.00 MiB spare". page_runs_figures adds the same as fields. */
void page_runs_room(struct text *text, const struct trial *trial);
/* For a run that fits: the words that say that next to nothing is spare; "" if more is. */
const char *page_runs_scarce(const struct trial *trial);
/* "2 allocations failed for want of memory, and the program went on"; nothing if none failed. */
void page_runs_refusals(struct text *text, const struct trial *trial);
void page_runs_figures(struct doc *doc, const struct trial *trial);
/* Adds the settings and numbers that were changed; nothing: the words for no change. */
void page_runs_change(struct doc *doc, const struct fix *fix, const struct fix_change *change,
                      const char *nothing);
void page_runs(struct doc *doc, const struct fix *fix, bool is_kept);

#endif
