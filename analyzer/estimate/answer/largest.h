/* SPDX-License-Identifier: MIT */
/*
 * The largest batch, or sequence, whose estimate is within the limit of a question.
 *
 * The requested bytes grow with the batch. The reserved bytes need not, because segments are
 * coarse: 17 may fit although 16 does not. So bisection finds a batch that fits, and the largest
 * batch whose requested bytes alone would fit. Between the two, all batches are tried, or 64 at
 * even distances and those around the best.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_LARGEST_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_LARGEST_H

#include "question.h"

struct largest {
    bool is_known;    /* it was searched for, and the model has such a size */
    uint64_t value;   /* 0: not even 1 fits */
    bool is_the_most; /* the model allows no larger value */
};

/* Searches the number of sequences instead if there is a cache. */
int largest_batch(struct largest *largest, const struct question *question,
                  const struct variant *variant, struct err *err);
/*
 * Searches the number of tokens of a cache instead if there is one. is_known is false if the
 * model has no dimension `sequence`.
 */
int largest_sequence(struct largest *largest, const struct question *question,
                     const struct variant *variant, struct err *err);

#endif
