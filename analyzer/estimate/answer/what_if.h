/* SPDX-License-Identifier: MIT */
/*
 * What each technique would save, and which is the cheapest that makes a model fit. It must not print.
 */
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
    struct saving items[TECHNIQUE_COUNT]; /* what saves most comes first */
    size_t count;                         /* of those that change something here */
};

/* now: the peak of the question itself. */
int what_if_try(struct what_if *what_if, const struct question *question,
                const struct footprint *now, struct err *err);

enum { REMEDY_MOST = 2 };

/* count 0: nothing known here makes it fit. */
struct remedy {
    struct saving items[REMEDY_MOST]; /* saved_bytes of a second one is that of both */
    size_t count;
};

/* The cheapest technique whose estimate is within the question's limit, else the cheapest two. */
int remedy_find(struct remedy *remedy, const struct question *question, const struct footprint *now,
                struct err *err);

/* Where none is: what trains adapters only, which is no remedy, for it trains less. */
int adapters_find(struct remedy *adapters, const struct question *question,
                  const struct footprint *now, struct err *err);

#endif
