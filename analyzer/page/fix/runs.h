/* SPDX-License-Identifier: MIT */
/* Describes runs: a run as part of a sentence, a run as fields, and all runs as a table. */
#pragma once

#include "analyzer/fix/fix.h"
#include "analyzer/render/doc.h"
#include "analyzer/util/text.h"

/* Adds "peak 1.20 GiB of 1.31 GiB, 112.00 MiB spare". page_runs_figures adds the same figures as
 * fields. */
void page_runs_room(struct text *text, const struct trial *trial);
/* Returns the words that say that a run which fits has next to nothing to spare. Returns "" if it
 * has more. */
const char *page_runs_scarce(const struct trial *trial);
/* Adds "2 allocations failed for want of memory, and the program went on". Adds nothing if none
 * failed. */
void page_runs_refusals(struct text *text, const struct trial *trial);
void page_runs_figures(struct doc *doc, const struct trial *trial);
/* Adds the settings and numbers that were changed. `nothing` is the text that is used if nothing
 * was changed. */
void page_runs_change(struct doc *doc, const struct fix *fix, const struct fix_change *change,
                      const char *nothing);
void page_runs(struct doc *doc, const struct fix *fix, bool is_kept);
