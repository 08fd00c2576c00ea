/* SPDX-License-Identifier: MIT */
/* Reads the tables walk and holder; see load_holders.h. */
#include "load_holders.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "gpumemtrace/limits.h"
#include "query.h"

struct rows {
    struct trace *trace;
    sqlite3_stmt *stmt;
    const char *table;
    uint64_t count; /* rows read so far, including the current row */
    size_t capacity;
    struct err *err;
};

static int broken_row(const struct rows *rows, const char *what)
{
    return err_set(rows->err, ERR_INPUT, "%s: table %s, row %llu: %s", rows->trace->path,
                   rows->table, (unsigned long long)rows->count, what);
}

/* Reads a number. NULL in the file is 0 if the column may be NULL. */
static int read_number(const struct rows *rows, int column, uint64_t high, bool may_be_null,
                       uint64_t *value)
{
    const int type = sqlite3_column_type(rows->stmt, column);
    const int64_t number = sqlite3_column_int64(rows->stmt, column);
    if (type != SQLITE_INTEGER && !(may_be_null && type == SQLITE_NULL))
        return broken_row(rows, "a number is missing");
    if (number < 0 || (uint64_t)number > high)
        return broken_row(rows, "a number is out of range");
    *value = (uint64_t)number;
    return 0;
}

static int read_id(const struct rows *rows, int column, bool may_be_null, uint32_t *id)
{
    uint64_t number;
    if (read_number(rows, column, UINT32_MAX, may_be_null, &number))
        return -1;
    *id = (uint32_t)number;
    return 0;
}

static int read_word(const struct rows *rows, int column, char **word)
{
    const char *text = (const char *)sqlite3_column_text(rows->stmt, column);
    if (!text)
        return broken_row(rows, "a text is missing");
    *word = strndup(text, LIMIT_text_bytes);
    if (!*word)
        err_set(rows->err, ERR_SYSTEM, "out of memory for %s", rows->trace->path);
    return *word ? 0 : -1;
}

static int read_word_or_null(const struct rows *rows, int column, char **word)
{
    *word = NULL;
    return sqlite3_column_type(rows->stmt, column) == SQLITE_NULL ? 0
                                                                  : read_word(rows, column, word);
}

static int read_walk(struct rows *rows)
{
    struct trace *trace = rows->trace;
    struct trace_walk walk;
    if (ARRAY_GROW(trace->walks, rows->capacity, trace->walk_count, rows->err))
        return -1;
    if (read_id(rows, 0, false, &walk.walk_id) ||
        read_number(rows, 1, INT64_MAX, false, &walk.event_number) ||
        read_word(rows, 2, &walk.reason))
        return -1;
    if (read_word_or_null(rows, 3, &walk.stopped)) {
        free(walk.reason);
        return -1;
    }
    trace->walks[trace->walk_count++] = walk;
    return 0;
}

static int read_holder(struct rows *rows)
{
    struct trace *trace = rows->trace;
    struct trace_holder holder;
    if (ARRAY_GROW(trace->holders, rows->capacity, trace->holder_count, rows->err))
        return -1;
    if (read_id(rows, 0, false, &holder.walk_id) ||
        read_number(rows, 1, INT64_MAX, false, &holder.address) ||
        read_number(rows, 2, INT64_MAX, false, &holder.size_bytes) ||
        read_id(rows, 3, false, &holder.chain_id) || read_id(rows, 4, true, &holder.location_id) ||
        read_number(rows, 5, INT64_MAX, true, &holder.items_count) ||
        read_word(rows, 6, &holder.kind))
        return -1;
    trace->holders[trace->holder_count++] = holder;
    return 0;
}

static bool has_table(sqlite3 *db, const char *table)
{
    return sqlite3_table_column_metadata(db, NULL, table, NULL, NULL, NULL, NULL, NULL, NULL) !=
           SQLITE_ERROR;
}

static int read_table(struct trace *trace, sqlite3 *db, const char *table, const char *select,
                      int (*read_row)(struct rows *rows), struct err *err)
{
    struct rows rows = {.trace = trace, .table = table, .err = err};
    int status = -1, step;
    if (!has_table(db, table))
        return 0;
    if (query_prepare(trace->path, db, select, &rows.stmt, err))
        return -1;
    while ((step = sqlite3_step(rows.stmt)) == SQLITE_ROW) {
        if (rows.count++ == LIMIT_rows) {
            broken_row(&rows, "the table has more rows than a trace may hold");
            goto out;
        }
        if (read_row(&rows))
            goto out;
    }
    status = step == SQLITE_DONE ? 0 : query_failed(trace->path, db, table, err);
out:
    sqlite3_finalize(rows.stmt);
    return status;
}

int load_holders(struct trace *trace, sqlite3 *db, struct err *err)
{
    return read_table(trace, db, "walk",
                      "SELECT walk_id, event_number, reason, stopped FROM walk "
                      "ORDER BY event_number, walk_id",
                      read_walk, err) ||
                   read_table(trace, db, "holder",
                              "SELECT walk_id, address, size_bytes, chain_id, location_id, "
                              "items_count, kind FROM holder ORDER BY walk_id, rowid",
                              read_holder, err)
               ? -1
               : 0;
}
