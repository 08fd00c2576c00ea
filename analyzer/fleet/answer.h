/* SPDX-License-Identifier: MIT */
/* What a statement answers, as a table: columns by name, rows by number. It must not know which statement. */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_ANSWER_H
#define GPUMEMTRACE_ANALYZER_FLEET_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server.h"

struct answer_table {
    char *text;         /* the cells point into it */
    const char **cells; /* NULL: unknown */
    const char **names;
    size_t column_count, row_count;
};

/* Asks and reads the answer. On -1 nothing has to be released. */
int answer_ask(struct answer_table *answer, struct server *server, const char *sql,
               struct err *err);
void answer_release(struct answer_table *answer);

/* Cells of a column that the statement has; NULL: unknown. */
const char *answer_text(const struct answer_table *answer, size_t row, const char *column);
bool answer_knows(const struct answer_table *answer, size_t row, const char *column);
/* 0 where it is unknown. */
uint64_t answer_count(const struct answer_table *answer, size_t row, const char *column);
int64_t answer_integer(const struct answer_table *answer, size_t row, const char *column);

#endif
