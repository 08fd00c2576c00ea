/* SPDX-License-Identifier: MIT */
/*
 * The tables of a fleet's database (tables.def) and their schema as SQL. It must not know how rows are made or sent.
 *
 *     single    X: MergeTree
 *     sharded   X_local: MergeTree on every server of a cluster; X: Distributed over these by job, run and rank
 *
 * Partitions: of a summary a day; of details a push, so that a rank's details appear and go at once.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_TABLES_H
#define GPUMEMTRACE_ANALYZER_FLEET_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/util/text.h"

/* Number of the schema: tables of another one are refused. */
enum { FLEET_SCHEMA = 1 };
#define FLEET_SCHEMA_TABLE "gpumemtrace_schema"

enum fleet_table_kind { FLEET_SUMMARY, FLEET_DETAIL };
enum fleet_table {
#define KEY(name, type, meaning)
#define TABLE(name, kind, order, meaning) FLEET_##name,
#define COLUMN(table, name, type, meaning)
#include "tables.def"
    FLEET_TABLES
};

/* The columns of all tables, behind those of the key: FLEET_event_seq. */
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
    int table; /* enum fleet_table; -1: of the key */
};
struct fleet_table_row {
    const char *name, *order, *meaning;
    enum fleet_table_kind kind;
};
extern const struct fleet_column_row fleet_columns[FLEET_COLUMNS];
extern const struct fleet_table_row fleet_tables[FLEET_TABLES];

enum fleet_dialect { FLEET_SINGLE = 1, FLEET_SHARDED, FLEET_POSTGRESQL };

/* The statements of the schema, one after the other; 0: there are no more. cluster: of FLEET_SHARDED. */
bool fleet_schema_statement(struct text *sql, enum fleet_dialect dialect, const char *cluster,
                            size_t number);

/* A table as DIALECT has it, with the key's columns set to what key says, for the rows of one push: name is its own.
 * The key's columns need not be sent then. */
struct fleet_key {
    const char *day; /* "2026-11-24" */
    const char *job, *run;
    int rank;
    unsigned long long push;
};
void fleet_staging_statement(struct text *sql, enum fleet_table table, const char *name,
                             const struct fleet_key *key);
/* "('2026-11-24', 'job', 'run', 3, 7)": the partition of a push's details. */
void fleet_add_partition(struct text *sql, const struct fleet_key *key);

/* As a literal of SQL, in quotes. */
void fleet_add_literal(struct text *sql, const char *value);

#endif
