/* SPDX-License-Identifier: MIT */
/*
 * The evidence of a broken limit. For a peak, it is the sites that are live at the peak. For a
 * phase, it is the sites that are live at the phase's own peak. For a leak, it is the sites that
 * were never freed. For a baseline, it is the lines that changed.
 */
#pragma once

#include "analyzer/analysis/check.h"
#include "analyzer/diff/run_diff.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/page/page.h"

/* The baseline to compare a trace with: another trace (study), a file (kept), or the estimate of
 * the model. NULL: not given. */
struct check_base {
    const struct study *study;
    const struct baseline *kept;
    const struct estimate *estimate;
};
/* Returns the baseline's peak of that account, or 0 if the baseline has none. */
uint64_t check_base_bytes(const struct check_base *base, const struct study *study,
                          uint32_t account);

/* Fills label, file and line of a broken result, and adds a sentence about them. Returns 1, or -1
 * on an error. */
int evidence_say(struct opening *opening, struct check_result *result,
                 const struct check_base *base, const struct study *study, const struct view *view,
                 struct err *err);
/* If a baseline limit holds: names the growth within the tolerance, unless it is at most a
 * thousandth. If an estimate holds: says whether the run seems to have another model. Returns 1, or
 * -1 on an error. */
int evidence_note(struct opening *opening, const struct check_result *result,
                  const struct check_base *base, const struct study *study, struct err *err);
/* True for a baseline limit. Its evidence is a separate list, "grown". If the limit holds, only
 * readers of series get this list. */
bool evidence_is_change(const struct check_result *result);
/* Adds the fields of a row of "evidence", except its subject. For a baseline limit, adds the list
 * "grown". */
int evidence_add(struct doc *doc, const struct check_result *result, const struct check_base *base,
                 const struct study *study, const struct view *view, struct err *err);
