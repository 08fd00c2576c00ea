/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table in one of two forms. Each value is added with its column. rows_check reports a
 * row with missing or unordered columns.
 *
 *     text      TabSeparated, which ClickHouse and PostgreSQL's COPY read
 *     columns   ClickHouse's format Native; see columns.h
 */
#pragma once

#include <stdint.h>

#include "columns.h"
#include "gpumemtrace/err.h"
#include "tables.h"

struct rows {
    enum fleet_table table;
    int first;                   /* enum fleet_column of the table's first column */
    const struct fleet_key *key; /* each row begins with this key; NULL: rows have no key */
    struct columns columns;      /* without items: the rows are text */
    struct text body;            /* what a server or a file gets; of columns, after rows_finish */
    size_t bytes;                /* of all values */
    uint64_t count;              /* rows */
    int next;                    /* enum fleet_column of the next value */
    bool is_out_of_memory, is_out_of_order;
};

void rows_init(struct rows *rows, enum fleet_table table, const struct fleet_key *key);
/* Rows without a key in the form of columns. */
void rows_init_columns(struct rows *rows, enum fleet_table table);
void rows_release(struct rows *rows);
/* Removes all rows, but keeps the memory. */
void rows_clear(struct rows *rows);
/* The name of the form in an INSERT. */
const char *rows_format(const struct rows *rows);

void rows_begin(struct rows *rows);
void rows_end(struct rows *rows);
/* Adds a value of any type but TEXT and DAY. A negative value is cast. */
void rows_value(struct rows *rows, enum fleet_column column, bool known, uint64_t value);
/* Adds a value of type TEXT or DAY. NULL is written as "". */
void rows_text(struct rows *rows, enum fleet_column column, const char *value);

static inline void rows_number(struct rows *rows, enum fleet_column column, uint64_t value)
{
    rows_value(rows, column, true, value);
}
static inline void rows_integer(struct rows *rows, enum fleet_column column, int64_t value)
{
    rows_value(rows, column, true, (uint64_t)value);
}
static inline void rows_maybe(struct rows *rows, enum fleet_column column, bool known,
                              int64_t value)
{
    rows_value(rows, column, known, (uint64_t)value);
}

/* Returns -1 after a failed allocation or a row whose columns are incomplete or out of order. */
int rows_check(const struct rows *rows, struct err *err);
/* Checks the rows and completes their body. */
int rows_finish(struct rows *rows, struct err *err);
