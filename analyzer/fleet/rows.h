/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table as TabSeparated text: what ClickHouse and PostgreSQL's COPY read. Each value names its column, and a
 * row that does not have all of them in their order is an error that rows_check tells. It must not know where rows go.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_ROWS_H
#define GPUMEMTRACE_ANALYZER_FLEET_ROWS_H

#include <stdint.h>

#include "gpumemtrace/err.h"
#include "tables.h"

struct rows {
    enum fleet_table table;
    const struct fleet_key *key; /* each row begins with it; NULL: rows have no key */
    char *data;
    size_t length, capacity;
    uint64_t count; /* rows */
    int next;       /* enum fleet_column */
    bool is_out_of_memory, is_out_of_order;
};

void rows_init(struct rows *rows, enum fleet_table table, const struct fleet_key *key);
void rows_release(struct rows *rows);
/* Empties it, and keeps its memory. */
void rows_clear(struct rows *rows);

void rows_begin(struct rows *rows);
void rows_end(struct rows *rows);
/* UINT64, UINT32, FLAG. */
void rows_number(struct rows *rows, enum fleet_column column, uint64_t value);
/* INT32, INT64. */
void rows_integer(struct rows *rows, enum fleet_column column, int64_t value);
void rows_maybe(struct rows *rows, enum fleet_column column, bool known, int64_t value);
void rows_maybe_number(struct rows *rows, enum fleet_column column, bool known, uint64_t value);
/* NULL is "". */
void rows_text(struct rows *rows, enum fleet_column column, const char *value);

/* 0; or -1, out of memory or a row that is none. */
int rows_check(const struct rows *rows, struct err *err);

#endif
