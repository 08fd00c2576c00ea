/* SPDX-License-Identifier: MIT */
/* The bytes that each technique would save, and the cheapest technique that makes a model fit. */
#pragma once

#include "techniques.h"

struct saving {
    enum technique technique;
    char how[TECHNIQUE_HOW_BYTES];
    struct footprint peak;
    int64_t saved_bytes; /* of the peak's requested bytes; below 0: the technique needs more */
};

struct what_if {
    struct saving items[TECHNIQUE_COUNT]; /* from the largest saving to the smallest */
    size_t count;                         /* number of techniques that change this question */
};

/* Tries every technique. `now` is the peak without any technique. */
int what_if_try(struct what_if *what_if, const struct question *question,
                const struct footprint *now, struct err *err);

enum { REMEDY_MOST = 2 };

/* One technique, or two together. count 0: no known technique makes the model fit. */
struct remedy {
    /* saved_bytes of the second item are those of both techniques together */
    struct saving items[REMEDY_MOST];
    size_t count;
};

/*
 * Finds the cheapest technique with which the estimate is within the question's limit. If there is
 * none, finds the cheapest two that are enough together.
 */
int remedy_find(struct remedy *remedy, const struct question *question, const struct footprint *now,
                struct err *err);

/*
 * Finds a technique that trains adapters only and makes the model fit. Called if no remedy was
 * found. This technique does not count as a remedy, because it trains less of the model.
 */
int adapters_find(struct remedy *adapters, const struct question *question,
                  const struct footprint *now, struct err *err);
