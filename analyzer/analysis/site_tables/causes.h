/* SPDX-License-Identifier: MIT */
/*
 * The live bytes of one account at a moment that explain it (causes.def). `replaced` counts blocks
 * that the step replaced. Such a block was made before the last backward began, and it is freed
 * before the next backward begins. By the moment, the step has made a new block of the same
 * category and size, and the new block lives on into the next step.
 *
 *     backward ─────────── moment ─────────── backward
 *       ──── old ────────────┼─────┤
 *                  ├─── new ─┼──────────────────────
 *
 * `undropped` are gradients that lived through the last backward, and through more than twice as
 * many as any gradient that was dropped.
 */
#pragma once

#include "analyzer/analysis/category.h"

struct causes {
    uint64_t bytes[CAUSE_COUNT];
    enum category youngest; /* of the block that was born last: at a peak, the one that made it */
};

/* Finds the causes at event `index`, which must be a moment that the history keeps. */
int causes_at(struct causes *causes, const struct categories *categories, uint32_t account,
              uint64_t index, struct err *err);

/* "16-bit copies of weights that autocast made". */
const char *cause_text(enum cause cause);
/* NULL: none. */
const char *cause_remedy(enum cause cause);
