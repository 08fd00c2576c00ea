/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table as TabSeparated text, which ClickHouse and PostgreSQL's COPY read. Each value is
 * added with its column. rows_check reports a row with missing or unordered columns.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/err.h"
#include "tables.h"

struct rows {
    enum fleet_table table;
    int first;                   /* enum fleet_column of the table's first column */
    const struct fleet_key *key; /* each row begins with this key; NULL: rows have no key */
    char *data;
    size_t length, capacity;
    uint64_t count; /* rows */
    int next;       /* enum fleet_column of the next value */
    bool is_out_of_memory, is_out_of_order;
};

void rows_init(struct rows *rows, enum fleet_table table, const struct fleet_key *key);
void rows_release(struct rows *rows);
/* Removes all rows, but keeps the memory. */
void rows_clear(struct rows *rows);

void rows_begin(struct rows *rows);
void rows_end(struct rows *rows);
/* Adds the value of a column of type UINT64, UINT32 or FLAG. */
void rows_number(struct rows *rows, enum fleet_column column, uint64_t value);
/* Adds the value of a column of type INT32 or INT64. */
void rows_integer(struct rows *rows, enum fleet_column column, int64_t value);
void rows_maybe(struct rows *rows, enum fleet_column column, bool known, int64_t value);
void rows_maybe_number(struct rows *rows, enum fleet_column column, bool known, uint64_t value);
/* Adds a text. NULL is written as "". */
void rows_text(struct rows *rows, enum fleet_column column, const char *value);

/* Returns -1 after a failed allocation or a row whose columns are incomplete or out of order. */
int rows_check(const struct rows *rows, struct err *err);
