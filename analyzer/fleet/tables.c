/* SPDX-License-Identifier: MIT */
/* See tables.h. */
#include "tables.h"

const struct fleet_column_row fleet_columns[FLEET_COLUMNS] = {
#define KEY(name, type, meaning) {#name, meaning, FLEET_##type, -1},
#define TABLE(name, kind, order, meaning)
#define COLUMN(table, name, type, meaning) {#name, meaning, FLEET_##type, FLEET_##table},
#include "tables.def"
};

const struct fleet_table_row fleet_tables[FLEET_TABLES] = {
#define KEY(name, type, meaning)
#define TABLE(name, kind, order, meaning) {#name, order, meaning, FLEET_##kind},
#define COLUMN(table, name, type, meaning)
#include "tables.def"
};

static const char *const clickhouse_types[FLEET_TYPES] = {
    [FLEET_DAY] = "Date",
    [FLEET_TEXT] = "String",
    [FLEET_INT32] = "Int32",
    [FLEET_UINT32] = "UInt32",
    [FLEET_UINT64] = "UInt64",
    [FLEET_INT64] = "Int64",
    [FLEET_FLAG] = "UInt8",
    [FLEET_MAYBE_INT64] = "Nullable(Int64)",
    [FLEET_MAYBE_UINT64] = "Nullable(UInt64)",
};

/* UINT64 becomes numeric, because PostgreSQL's bigint ends at 2^63. */
static const char *const postgresql_types[FLEET_TYPES] = {
    [FLEET_DAY] = "date NOT NULL",           [FLEET_TEXT] = "text NOT NULL",
    [FLEET_INT32] = "integer NOT NULL",      [FLEET_UINT32] = "bigint NOT NULL",
    [FLEET_UINT64] = "numeric(20) NOT NULL", [FLEET_INT64] = "bigint NOT NULL",
    [FLEET_FLAG] = "smallint NOT NULL",      [FLEET_MAYBE_INT64] = "bigint",
    [FLEET_MAYBE_UINT64] = "numeric(20)",
};

#define SHARDING_KEY "cityHash64(job, run, rank)"

void fleet_add_literal(struct text *sql, const char *value)
{
    text_add(sql, "'");
    for (const char *c = value; *c; c++) {
        if (*c == '\'' || *c == '\\')
            text_add(sql, "\\");
        if (*c == '\n')
            text_add(sql, "\\n");
        else if (*c == '\r')
            text_add(sql, "\\r");
        else
            text_add_bytes(sql, c, 1);
    }
    text_add(sql, "'");
}

const char *fleet_type_name(enum fleet_type type)
{
    return clickhouse_types[type];
}

static bool is_of(const struct fleet_column_row *column, enum fleet_table table)
{
    return column->table < 0 || column->table == (int)table;
}

static void add_defaults(struct text *sql, enum fleet_column column, const struct fleet_key *key)
{
    text_add(sql, " DEFAULT ");
    switch (column) {
    case FLEET_KEY_day:
        text_add(sql, "toDate(");
        fleet_add_literal(sql, key->day);
        text_add(sql, ")");
        return;
    case FLEET_KEY_job:
        fleet_add_literal(sql, key->job);
        return;
    case FLEET_KEY_run:
        fleet_add_literal(sql, key->run);
        return;
    case FLEET_KEY_rank:
        text_addf(sql, "toInt32(%d)", key->rank);
        return;
    default:
        text_addf(sql, "toUInt64(%llu)", key->push);
        return;
    }
}

static void add_columns(struct text *sql, enum fleet_table table, const char *const types[],
                        const struct fleet_key *key)
{
    const char *separator = "(\n    ";

    for (int i = 0; i < FLEET_COLUMNS; i++) {
        const struct fleet_column_row *column = &fleet_columns[i];

        if (!is_of(column, table))
            continue;
        text_addf(sql, "%s%s %s", separator, column->name, types[column->type]);
        if (key && column->table < 0)
            add_defaults(sql, (enum fleet_column)i, key);
        separator = ",\n    ";
    }
    text_add(sql, "\n)");
}

static void add_merge_tree(struct text *sql, const struct fleet_table_row *table)
{
    text_addf(sql, " ENGINE = MergeTree PARTITION BY %s ORDER BY (job, run, rank, push, %s)",
              table->kind == FLEET_DETAIL ? "(day, job, run, rank, push)" : "day", table->order);
}

static void add_clickhouse_table(struct text *sql, enum fleet_table table, const char *suffix)
{
    text_addf(sql, "CREATE TABLE IF NOT EXISTS %s%s ", fleet_tables[table].name, suffix);
    add_columns(sql, table, clickhouse_types, NULL);
    add_merge_tree(sql, &fleet_tables[table]);
}

static void add_distributed_table(struct text *sql, enum fleet_table table, const char *cluster)
{
    const char *name = fleet_tables[table].name;
    text_addf(sql, "CREATE TABLE IF NOT EXISTS %s AS %s_local ENGINE = Distributed(", name, name);
    fleet_add_literal(sql, cluster);
    text_addf(sql, ", currentDatabase(), %s_local, " SHARDING_KEY ")", name);
}

static void add_postgresql_table(struct text *sql, enum fleet_table table)
{
    text_addf(sql, "CREATE TABLE IF NOT EXISTS %s ", fleet_tables[table].name);
    add_columns(sql, table, postgresql_types, NULL);
}

/* Adds the last statement of a schema, which stores the version. If a database has tables but no
 * version, its schema is unfinished. */
static void add_version(struct text *sql, enum fleet_dialect dialect, const char *cluster)
{
    if (dialect == FLEET_POSTGRESQL) {
        text_addf(sql,
                  "CREATE TABLE IF NOT EXISTS " FLEET_SCHEMA_TABLE
                  " AS SELECT %d AS version, '' AS cluster",
                  FLEET_SCHEMA);
        return;
    }
    text_addf(sql,
              "CREATE TABLE IF NOT EXISTS " FLEET_SCHEMA_TABLE
              " ENGINE = Log AS SELECT toInt32(%d) AS version, ",
              FLEET_SCHEMA);
    fleet_add_literal(sql, dialect == FLEET_SHARDED ? cluster : "");
    text_add(sql, " AS cluster");
}

bool fleet_schema_statement(struct text *sql, enum fleet_dialect dialect, const char *cluster,
                            size_t number)
{
    const size_t each = dialect == FLEET_SHARDED ? 2 : 1;
    const enum fleet_table table = (enum fleet_table)(number / each);
    text_clear(sql);
    if (number > FLEET_TABLES * each)
        return false;
    if (number == FLEET_TABLES * each)
        add_version(sql, dialect, cluster);
    else if (dialect == FLEET_POSTGRESQL)
        add_postgresql_table(sql, table);
    else if (dialect == FLEET_SINGLE)
        add_clickhouse_table(sql, table, "");
    else if (number % 2)
        add_distributed_table(sql, table, cluster);
    else
        add_clickhouse_table(sql, table, "_local");
    return true;
}

/* Parts of a staging table are not merged: they move to another table seconds later, and the merge
 * would compete with the INSERTs. So a staging table may have any number of parts. */
#define STAGING_SETTINGS                                                                           \
    "max_bytes_to_merge_at_min_space_in_pool = 1, max_bytes_to_merge_at_max_space_in_pool = 1, "   \
    "parts_to_delay_insert = 1000000, parts_to_throw_insert = 1000000"

void fleet_staging_statement(struct text *sql, enum fleet_table table, const char *name,
                             const struct fleet_key *key)
{
    text_clear(sql);
    text_addf(sql, "CREATE TABLE IF NOT EXISTS %s ", name);
    add_columns(sql, table, clickhouse_types, key);
    add_merge_tree(sql, &fleet_tables[table]);
    text_add(sql, " SETTINGS " STAGING_SETTINGS);
}

void fleet_add_partition(struct text *sql, const struct fleet_key *key)
{
    text_add(sql, "(");
    fleet_add_literal(sql, key->day);
    text_add(sql, ", ");
    fleet_add_literal(sql, key->job);
    text_add(sql, ", ");
    fleet_add_literal(sql, key->run);
    text_addf(sql, ", %d, %llu)", key->rank, key->push);
}
