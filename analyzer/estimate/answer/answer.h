/* SPDX-License-Identifier: MIT */
/*
 * The answers of an estimate beyond its figures: whether the model fits a card, how far it could
 * grow, which change would make it fit, and how much each technique saves.
 */
#pragma once

#include "card.h"
#include "largest.h"
#include "what_if.h"

/* For DataParallel: the peak of each GPU but the first, and the peak that each GPU would have with
 * DistributedDataParallel instead. */
struct imbalance {
    bool is_known;
    struct footprint others, distributed;
};

struct answer {
    /* NULL: no card was named, and the members up to `remedy` are unknown */
    const struct card *card;
    bool fits;
    uint64_t needed_bytes; /* the sum of segments, context and NCCL */
    int64_t spare_bytes;   /* below 0: the card lacks this much */
    struct largest batch, sequence;
    struct remedy remedy;   /* if the model does not fit */
    struct remedy adapters; /* if no remedy makes it fit */
    struct what_if what_if;
    struct imbalance imbalance; /* of DataParallel */
};

/* Fills the answer. The question's limit must be that of the card. what_if is filled only if
 * tries_all is set. */
int answer_find(struct answer *answer, const struct question *question, const struct card *card,
                bool tries_all, const struct estimate *estimate, struct err *err);
