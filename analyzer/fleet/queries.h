/* SPDX-License-Identifier: MIT */
/* The statements of `fleet` (queries.def), with values in place of their parameters. */
#pragma once

#include <stdbool.h>

#include "analyzer/util/text.h"

enum query {
#define QUERY(name, other, summary) QUERY_##name,
#include "queries.def"
    QUERIES
};

struct query_row {
    const char *name, *text, *summary;
    bool is_of_two; /* the statement compares two runs */
};
extern const struct query_row queries[QUERIES];

struct query_values {
    const char *job, *run, *other_job, *other_run;
};
/* Writes the statement with the values as quoted literals. */
void query_write(struct text *sql, enum query query, const struct query_values *values);
