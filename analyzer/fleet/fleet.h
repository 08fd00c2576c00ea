/* SPDX-License-Identifier: MIT */
/*
 * What a database answers of one run: the tables of queries.def. The engine does the work; here is only which run is meant. It
 * must not know how that is shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_FLEET_H
#define GPUMEMTRACE_ANALYZER_FLEET_FLEET_H

#include "answer.h"
#include "queries.h"

enum { FLEET_NAME_BYTES = 256 };

struct fleet_ask {
    const char *job, *run; /* NULL: the run that began last, of that job or of all */
    const char *against;   /* "JOB/RUN" or "RUN" of the same job; NULL: no other */
};

struct fleet {
    char job[FLEET_NAME_BYTES], run[FLEET_NAME_BYTES];
    char other_job[FLEET_NAME_BYTES], other_run[FLEET_NAME_BYTES]; /* "": there is none */
    struct answer_table answers[QUERIES];
};

/* On -1 nothing has to be released. */
int fleet_read(struct fleet *fleet, struct server *server, const struct fleet_ask *ask,
               struct err *err);
void fleet_release(struct fleet *fleet);
struct query_values fleet_values(const struct fleet *fleet);

#endif
