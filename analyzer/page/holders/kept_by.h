/* SPDX-License-Identifier: MIT */
/*
 * The words "kept by" of rows of call stacks: the variable that keeps most bytes of a row alive, as
 * the nearest walk over Python's objects found it. Nothing is added for a trace without walks.
 */
#pragma once

#include "analyzer/analysis/holders/held_sums.h"
#include "analyzer/analysis/study.h"
#include "analyzer/render/doc.h"

/* True if the trace has walks. */
bool page_has_holders(const struct study *study);

/* Finds what keeps the blocks of each call stack that were live at a moment. */
int page_kept_find(struct held_sums *kept, const struct study *study, uint32_t account,
                   uint64_t index, struct err *err);
/* Adds "kept_by" and "walk_seq" to a row; null: no holder keeps most of its bytes. A summary has a
 * line below the row. Adds nothing if `kept` is NULL. */
void page_kept_by(struct doc *doc, const struct study *study, const struct held_sums *kept,
                  uint32_t stack_id);
/* Says below a list which walk the holders come from. Adds nothing if the walk found none. */
void page_kept_note(struct doc *doc, const struct held_sums *kept);
