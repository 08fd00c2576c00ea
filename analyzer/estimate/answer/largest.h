/* SPDX-License-Identifier: MIT */
/*
 * The largest batch, or sequence, whose estimate is within the limit of a question. It must not know what the
 * limit comes from.
 *
 * Segments make what is reserved no steady function of the batch: 17 may fit where 16 does not. What is asked for is
 * one. So bisection finds a batch that fits, and the largest whose requests alone would; between the two all are
 * tried, or 64 at even distances and those around the best.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_LARGEST_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_LARGEST_H

#include "question.h"

struct largest {
    bool is_known;    /* it was asked for, and the model has such a size */
    uint64_t value;   /* 0: not even 1 fits */
    bool is_the_most; /* the model takes no more */
};

/* Of the sequences of a cache, where there is one. */
int largest_batch(struct largest *largest, const struct question *question,
                  const struct variant *variant, struct err *err);
/* Of the tokens of a cache, where there is one. Not known where the model has no dimension `sequence`. */
int largest_sequence(struct largest *largest, const struct question *question,
                     const struct variant *variant, struct err *err);

#endif
