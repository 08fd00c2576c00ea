/* SPDX-License-Identifier: MIT */
/*
 * The evidence of a broken limit: of a peak those who held it, of a phase those who held the phase's
 * own, of a leak what was never freed, of a baseline what changed. It must not know options.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_CHECK_EVIDENCE_H
#define GPUMEMTRACE_ANALYZER_PAGE_CHECK_EVIDENCE_H

#include "analyzer/analysis/check.h"
#include "analyzer/diff/run_diff.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/page/page.h"

/* What a trace is held against: another one, or a file; neither: no baseline. And its model's estimate; NULL: none. */
struct check_base {
    const struct study *study;
    const struct baseline *kept;
    const struct estimate *estimate;
};
/* The baseline's peak of that account; 0: it has none. */
uint64_t check_base_bytes(const struct check_base *base, const struct study *study,
                          uint32_t account);

/* Fills who, file and line of a broken result, and adds a sentence that says so. 1, or -1. */
int evidence_say(struct opening *opening, struct check_result *result,
                 const struct check_base *base, const struct study *study, const struct view *view,
                 struct err *err);
/* Of a baseline that holds: what grew within the tolerance, from a thousandth on. 1, or -1. */
int evidence_note(struct opening *opening, const struct check_result *result,
                  const struct check_base *base, const struct study *study, struct err *err);
/* Of a baseline it is a list of its own, "grown"; where that holds, for readers of series only. */
bool evidence_is_change(const struct check_result *result);
/* What a row of "evidence" holds beside its subject, or that list. */
int evidence_add(struct doc *doc, const struct check_result *result, const struct check_base *base,
                 const struct study *study, const struct view *view, struct err *err);

#endif
