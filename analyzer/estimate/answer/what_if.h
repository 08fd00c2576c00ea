/* SPDX-License-Identifier: MIT */
/* The bytes that each technique would save, and the cheapest technique that makes a model fit. */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_WHAT_IF_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_ANSWER_WHAT_IF_H

#include "techniques.h"

struct saving {
    enum technique technique;
    char how[TECHNIQUE_HOW_BYTES];
    struct footprint peak;
    int64_t saved_bytes; /* of the peak's requested bytes; below 0: it needs more */
};

struct what_if {
    struct saving items[TECHNIQUE_COUNT]; /* the largest saving first */
    size_t count;                         /* number of techniques that change this question */
};

/* Tries every technique. `now` is the peak of the question itself. */
int what_if_try(struct what_if *what_if, const struct question *question,
                const struct footprint *now, struct err *err);

enum { REMEDY_MOST = 2 };

/* One technique, or two together. count 0: no known technique makes the model fit. */
struct remedy {
    struct saving items[REMEDY_MOST]; /* the second's saved_bytes are those of both */
    size_t count;
};

/*
 * Finds the cheapest technique whose estimate is within the
 * question's limit, else the cheapest two.
 */
int remedy_find(struct remedy *remedy, const struct question *question, const struct footprint *now,
                struct err *err);

/*
 * If there is no remedy: finds a technique that trains adapters only. It is no remedy,
 * because it trains less of the model.
 */
int adapters_find(struct remedy *adapters, const struct question *question,
                  const struct footprint *now, struct err *err);

#endif
