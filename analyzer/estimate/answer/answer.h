/* SPDX-License-Identifier: MIT */
/*
 * What an estimate answers beyond its figures: whether the model fits a card, how far it could grow, what would
 * make it fit, and what each technique saves. It must not print.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_ANSWER_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_ANSWER_H

#include "card.h"
#include "largest.h"
#include "what_if.h"

/* What the others hold where GPUs are not alike, and each one with DistributedDataParallel instead. */
struct imbalance {
    bool is_known;
    struct footprint others, distributed;
};

struct answer {
    const struct card *card; /* NULL: none was named, and what follows up to remedy is not known */
    bool fits;
    uint64_t needed_bytes; /* segments and context */
    int64_t spare_bytes;   /* below 0: so much is lacking */
    struct largest batch, sequence;
    struct remedy remedy;   /* where it does not fit */
    struct remedy adapters; /* where none of these does */
    struct what_if what_if;
    struct imbalance imbalance; /* of DataParallel */
};

/* The question's limit is that of the card; what_if is left empty unless it is asked for. */
int answer_find(struct answer *answer, const struct question *question, const struct card *card,
                bool tries_all, const struct estimate *estimate, struct err *err);

#endif
