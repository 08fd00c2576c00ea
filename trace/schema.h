/* SPDX-License-Identifier: MIT */
/*
 * The tables of a trace as data, expanded from include/gpumemtrace/schema/, and the SQL that
 * creates them.
 */
#pragma once

#include <stddef.h>

#include "gpumemtrace/err.h"

/* A row with a table begins that table; the rows after it are its columns. */
struct schema_row {
    const char *table;
    const char *column, *sql;
    const char *text;
};

extern const struct schema_row schema_rows[];
extern const size_t schema_row_count;

/* Writes the script that creates tables, views, application_id and user_version. SCHEMA_SQL_BYTES
 * are enough. -1: *err says why. */
#define SCHEMA_SQL_BYTES 16384
int schema_sql(char *buffer, size_t buffer_bytes, struct err *err);
