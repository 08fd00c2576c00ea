/* SPDX-License-Identifier: MIT */
/*
 * The evidence of a broken limit: for a peak, the sites live then; for a phase, the sites live at
 * the phase's own peak; for a leak, the sites never freed; for a baseline, the lines that changed.
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_CHECK_EVIDENCE_H
#define GPUMEMTRACE_ANALYZER_PAGE_CHECK_EVIDENCE_H

#include "analyzer/analysis/check.h"
#include "analyzer/diff/run_diff.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/page/page.h"

/* A trace is compared with another trace (study) or with a file (kept), and with its model's
 * estimate. NULL: not given. */
struct check_base {
    const struct study *study;
    const struct baseline *kept;
    const struct estimate *estimate;
};
/* The baseline's peak of that account; 0 if it has none. */
uint64_t check_base_bytes(const struct check_base *base, const struct study *study,
                          uint32_t account);

/* Fills label, file and line of a broken result, and adds a sentence about them. 1, or -1. */
int evidence_say(struct opening *opening, struct check_result *result,
                 const struct check_base *base, const struct study *study, const struct view *view,
                 struct err *err);
/* For a baseline limit that holds: names the growth within the tolerance, if it is more than a
 * thousandth. 1, or -1. */
int evidence_note(struct opening *opening, const struct check_result *result,
                  const struct check_base *base, const struct study *study, struct err *err);
/* True for a baseline limit, whose evidence is a list of its own, "grown". If the limit holds, only
 * readers of series have it. */
bool evidence_is_change(const struct check_result *result);
/* Adds the fields of a row of "evidence", except its subject; or the list "grown". */
int evidence_add(struct doc *doc, const struct check_result *result, const struct check_base *base,
                 const struct study *study, const struct view *view, struct err *err);

#endif
