/* SPDX-License-Identifier: MIT */
/* Parts of the page of `estimate`: the card, and what each technique would save. */
#pragma once

#include "analyzer/estimate/answer/answer.h"
#include "analyzer/estimate/serve/serving.h"
#include "analyzer/page/verdict/verdict.h"
#include "analyzer/render/doc.h"

/* Adds "fits a 24 GiB card with 3.10 GiB to spare at batch 8". */
void page_estimate_card_answer(struct verdict *said, const struct estimate *estimate,
                               const struct answer *answer, const struct serving *serving);
/* Adds the largest batch and sequence that fit. */
void page_estimate_sizes_answer(struct verdict *said, const struct answer *answer,
                                const struct serving *serving);
/* If the model does not fit, adds what the user can do. */
void page_estimate_remedy_answer(struct verdict *said, const struct answer *answer);
/* Adds "card". */
void page_estimate_card(struct doc *doc, const struct answer *answer,
                        const struct serving *serving);
/* Adds the bytes that each GPU of DataParallel needs, as a sentence and as "imbalance". The two
 * functions add nothing if the bytes are not known. */
void page_estimate_imbalance_answer(struct verdict *said, const struct estimate *estimate,
                                    const struct imbalance *imbalance);
void page_estimate_imbalance(struct doc *doc, const struct estimate *estimate,
                             const struct imbalance *imbalance);
/* Adds "what_if" and "not_estimated". */
void page_estimate_what_if(struct doc *doc, const struct answer *answer);
