/* SPDX-License-Identifier: MIT */
/* The answer of a statement as a table: columns by name, rows by number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server.h"

struct answer_table {
    char *text;         /* memory of the cells */
    const char **cells; /* NULL: unknown */
    const char **names;
    size_t column_count, row_count;
};

/* Sends the statement and reads the answer. After -1, nothing has to be released. */
int answer_ask(struct answer_table *answer, struct server *server, const char *sql,
               struct err *err);
void answer_release(struct answer_table *answer);

/* Returns the value of the column; NULL: the value is unknown. The statement must have the
 * column. */
const char *answer_text(const struct answer_table *answer, size_t row, const char *column);
/* Returns the value as a number; 0: the value is 0 or unknown. */
uint64_t answer_count(const struct answer_table *answer, size_t row, const char *column);
int64_t answer_integer(const struct answer_table *answer, size_t row, const char *column);
