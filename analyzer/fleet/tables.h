/* SPDX-License-Identifier: MIT */
/*
 * The tables of a fleet's database (tables.def) and their schema as SQL.
 *
 *     single    X: MergeTree
 *     sharded   X_local: MergeTree on every server of a cluster;
 *               X: Distributed over these by job, run and rank
 *
 * Partitions: a summary table has one per day. A detail table has one per push, so that the details
 * of a rank appear and disappear at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/util/text.h"

/* Version of the schema. Tables of another version are refused. */
enum { FLEET_SCHEMA = 1 };
#define FLEET_SCHEMA_TABLE "gpumemtrace_schema"

/* Names of jobs and runs are shorter than this. */
enum { FLEET_NAME_BYTES = 256 };

enum fleet_table_kind { FLEET_SUMMARY, FLEET_DETAIL };
enum fleet_table {
#define KEY(name, type, meaning)
#define TABLE(name, kind, order, meaning) FLEET_##name,
#define COLUMN(table, name, type, meaning)
#include "tables.def"
    FLEET_TABLES
};

/* The columns of all tables after the key's columns, as FLEET_event_seq. */
enum fleet_column {
#define KEY(name, type, meaning) FLEET_KEY_##name,
#define TABLE(name, kind, order, meaning)
#define COLUMN(table, name, type, meaning) FLEET_##table##_##name,
#include "tables.def"
    FLEET_COLUMNS
};

enum fleet_type {
    FLEET_DAY,
    FLEET_TEXT,
    FLEET_INT32,
    FLEET_UINT32,
    FLEET_UINT64,
    FLEET_INT64,
    FLEET_FLAG,
    FLEET_MAYBE_INT64,
    FLEET_MAYBE_UINT64,
    FLEET_TYPES
};

struct fleet_column_row {
    const char *name, *meaning;
    enum fleet_type type;
    int table; /* enum fleet_table; -1: a column of the key */
};
struct fleet_table_row {
    const char *name, *order, *meaning;
    enum fleet_table_kind kind;
};
extern const struct fleet_column_row fleet_columns[FLEET_COLUMNS];
extern const struct fleet_table_row fleet_tables[FLEET_TABLES];
/* "Nullable(Int64)", as ClickHouse writes it. */
const char *fleet_type_name(enum fleet_type type);

enum fleet_dialect { FLEET_SINGLE = 1, FLEET_SHARDED, FLEET_POSTGRESQL };

/* Writes one statement of the schema, counted from 0. Returns false after the last statement.
 * `cluster` is used only for FLEET_SHARDED. */
bool fleet_schema_statement(struct text *sql, enum fleet_dialect dialect, const char *cluster,
                            size_t number);

/* The key of all rows of one push. fleet_staging_statement creates a table called `name`. The
 * default values of its key columns are this key, so rows are sent without a key. */
struct fleet_key {
    const char *day; /* "2026-11-24" */
    const char *job, *run;
    int rank;
    unsigned long long push;
};
void fleet_staging_statement(struct text *sql, enum fleet_table table, const char *name,
                             const struct fleet_key *key);
/* Adds the partition of a push's details, such as "('2026-11-24', 'job', 'run', 3, 7)". */
void fleet_add_partition(struct text *sql, const struct fleet_key *key);

/* Adds a value as a quoted literal of SQL. */
void fleet_add_literal(struct text *sql, const char *value);
