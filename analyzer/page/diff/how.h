/* SPDX-License-Identifier: MIT */
/* The reason of a change, and what undoes it, as `diff` and `check` say them. */
#pragma once

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/page.h"

/* If the two peaks are in different parts of the program, says which moments are compared. */
void page_diff_moved(struct opening *opening, const struct run_diff *change);
/*
 * Says how the line to blame grew: its blocks live longer, are larger, or are more in number. If
 * the peak fell, says how the line that shrank most did. If an input or the parameters explain
 * other growth, says which categories grew.
 */
int page_diff_how(struct opening *opening, const struct run_diff *change, struct err *err);
/*
 * Says what to do as the earlier run did, if nearly all of the growth is at one line, so that the
 * peak of the earlier run is what can be expected.
 */
void page_diff_undo(struct opening *opening, const struct run_diff *change,
                    const struct study *before, const struct study *after);
