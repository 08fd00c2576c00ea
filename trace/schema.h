/* SPDX-License-Identifier: MIT */
/*
 * The tables of a trace as data, from include/gpumemtrace/schema/: what CREATE TABLE says and what
 * a reader may ask for. It must not know who asks.
 */
#ifndef GPUMEMTRACE_TRACE_SCHEMA_H
#define GPUMEMTRACE_TRACE_SCHEMA_H

#include <stddef.h>

#include "gpumemtrace/err.h"

/* A row that names a table starts it; the rows behind it, up to the next, are its columns. */
struct schema_row {
    const char *table;
    const char *column, *sql;
    const char *text;
};

extern const struct schema_row schema_rows[];
extern const size_t schema_row_count;

/* The script that makes all tables, views, application_id and user_version; buffer is terminated.
 * SCHEMA_SQL_BYTES are enough. */
#define SCHEMA_SQL_BYTES 16384
int schema_sql(char *buffer, size_t buffer_bytes, struct err *err);

#endif
