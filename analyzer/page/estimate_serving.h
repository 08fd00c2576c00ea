/* SPDX-License-Identifier: MIT */
/* The cache of keys and values on the page of `estimate`. */
#pragma once

#include "estimate.h"
#include "analyzer/page/verdict/verdict.h"

/* Adds the headline that replaces the headline about a run. If there is a card, the verdict begins
 * with the card. */
void page_estimate_serving_answer(struct verdict *said, const struct estimate *estimate,
                                  const struct serving *serving, bool has_card);
/* Adds "kv_cache". */
void page_estimate_serving(struct doc *doc, const struct serving *serving);
void page_estimate_serving_assumptions(struct doc *doc, const struct serving *serving);
