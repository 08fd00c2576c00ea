/* SPDX-License-Identifier: MIT */
/*
 * The largest batch, or sequence, whose estimate is within the limit of a question.
 *
 * The requested bytes grow with the batch. The reserved bytes may not, because segments are
 * coarse: a batch of 17 may fit although 16 does not. Therefore one bisection finds a batch that
 * fits, and another finds the largest batch whose requested bytes alone would fit. All batches
 * between the two are tried. If there are many, 64 batches at even distances are tried, and then
 * those just above the largest that fits.
 */
#pragma once

#include "question.h"

struct largest {
    bool is_known;    /* the size was searched for, and the model has such a size */
    uint64_t value;   /* 0: not even 1 fits */
    bool is_the_most; /* the model allows no larger value */
};

/* If the model has a cache of keys and values, finds the largest number of sequences instead. */
int largest_batch(struct largest *largest, const struct question *question,
                  const struct variant *variant, struct err *err);
/*
 * If the model has a cache of keys and values, finds the largest number of its tokens instead.
 * Without a cache, is_known is false if the model has no dimension `sequence`.
 */
int largest_sequence(struct largest *largest, const struct question *question,
                     const struct variant *variant, struct err *err);
