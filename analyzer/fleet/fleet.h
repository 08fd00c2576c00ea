/* SPDX-License-Identifier: MIT */
/*
 * The answers of a database about one run. Each row of queries.def gives a table. The database
 * computes the tables; this file only finds the run.
 */
#pragma once

#include "answer.h"
#include "queries.h"
#include "tables.h"

struct fleet_ask {
    const char *job, *run; /* NULL: the newest run of the job, or of all jobs */
    const char *against;   /* "JOB/RUN" or "RUN" of the same job; NULL: no comparison */
};

struct fleet {
    char job[FLEET_NAME_BYTES], run[FLEET_NAME_BYTES];
    char other_job[FLEET_NAME_BYTES], other_run[FLEET_NAME_BYTES]; /* "": no comparison */
    struct answer_table answers[QUERIES];
};

/* After -1, nothing has to be released. */
int fleet_read(struct fleet *fleet, struct server *server, const struct fleet_ask *ask,
               struct err *err);
void fleet_release(struct fleet *fleet);
