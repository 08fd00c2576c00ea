/* SPDX-License-Identifier: MIT */
/* Names into a trace file; see store_symbols.h. */
#include "store_symbols.h"

#include <search.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "trace/schema.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

enum { CREATE_MAX_BYTES = 2048 };

struct writer {
    sqlite3 *db;
    sqlite3_stmt *add_string, *add_symbol;
    struct hsearch_data string_ids; /* text to id, of the file's strings and the new ones */
    uint32_t last_string_id;
};

static int failed(const struct trace *trace, sqlite3 *db, struct err *err)
{
    err_set(err, ERR_SYSTEM, "cannot write names into %s: %s", trace->path,
            db ? sqlite3_errmsg(db) : "not enough memory");
    return -1;
}

/* --- strings --- */

/* hsearch takes char * and does not change it. */
static char *key_of(const char *text)
{
    return (char *)(uintptr_t)text;
}

static int know_string(struct writer *writer, const char *text, uint32_t string_id)
{
    ENTRY *entry, added = {.key = key_of(text), .data = (void *)(uintptr_t)string_id};

    return hsearch_r(added, ENTER, &entry, &writer->string_ids) ? 0 : -1;
}

/* Room for every string twice over, because a full table is slow. */
static int know_strings(struct writer *writer, const struct trace *trace, size_t new_count)
{
    if (!hcreate_r(2 * (trace->string_limit + new_count) + 16, &writer->string_ids))
        return -1;
    for (size_t id = 1; id < trace->string_limit; id++)
        if (trace->strings[id] && know_string(writer, trace->strings[id], (uint32_t)id))
            return -1;
    return 0;
}

static int step(sqlite3_stmt *stmt)
{
    int status = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return status == SQLITE_DONE ? 0 : -1;
}

static int string_id(struct writer *writer, const char *text, uint32_t *id)
{
    ENTRY *found, wanted = {.key = key_of(text)};

    if (hsearch_r(wanted, FIND, &found, &writer->string_ids)) {
        *id = (uint32_t)(uintptr_t)found->data;
        return 0;
    }
    *id = ++writer->last_string_id;
    sqlite3_bind_int64(writer->add_string, 1, *id);
    sqlite3_bind_text(writer->add_string, 2, text, -1, SQLITE_STATIC);
    return step(writer->add_string) || know_string(writer, text, *id) ? -1 : 0;
}

/* --- the table --- */

/* The first recorders of this format made no such table. */
static void describe_table(struct text *create)
{
    bool is_wanted = false;
    const char *separator = "CREATE TABLE IF NOT EXISTS symbol(";

    for (size_t i = 0; i < schema_row_count; i++) {
        const struct schema_row *row = &schema_rows[i];

        if (row->table)
            is_wanted = !strcmp(row->table, "symbol");
        if (row->table || !is_wanted)
            continue;
        text_addf(create, "%s%s %s", separator, row->column, row->sql);
        separator = ",";
    }
    text_add(create, ")");
}

/* As of now: since the trace was loaded somebody else may have added names. */
static int read_last_string_id(struct writer *writer)
{
    sqlite3_stmt *stmt = NULL;
    int status = -1;

    if (sqlite3_prepare_v2(writer->db, "SELECT max(string_id) FROM string", -1, &stmt, NULL) ==
            SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        writer->last_string_id = (uint32_t)sqlite3_column_int64(stmt, 0);
        status = 0;
    }
    sqlite3_finalize(stmt);
    return status;
}

static int begin(struct writer *writer, const struct trace *trace, struct err *err)
{
    struct text create;
    int status = -1;

    text_init(&create, CREATE_MAX_BYTES);
    describe_table(&create);
    if (sqlite3_open_v2(trace->path, &writer->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(writer->db, 5000) == SQLITE_OK &&
        sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(writer->db, create.data, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(writer->db, "DELETE FROM symbol", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(writer->db, "INSERT INTO string VALUES(?,?)", -1, &writer->add_string,
                           NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(writer->db, "INSERT INTO symbol VALUES(?,?,?,?,?)", -1,
                           &writer->add_symbol, NULL) == SQLITE_OK &&
        read_last_string_id(writer) == 0)
        status = 0;
    else
        failed(trace, writer->db, err);
    text_release(&create);
    return status;
}

static int add(struct writer *writer, const struct symbol_name *name)
{
    uint32_t function_id, file_id = 0;

    if (string_id(writer, name->function, &function_id) ||
        (name->file && string_id(writer, name->file, &file_id)))
        return -1;
    sqlite3_bind_int64(writer->add_symbol, 1, (int64_t)name->address);
    sqlite3_bind_int64(writer->add_symbol, 2, name->level);
    sqlite3_bind_int64(writer->add_symbol, 3, function_id);
    sqlite3_bind_int64(writer->add_symbol, 4, file_id);
    sqlite3_bind_int64(writer->add_symbol, 5, name->line);
    return step(writer->add_symbol);
}

static void close_writer(struct writer *writer)
{
    sqlite3_finalize(writer->add_string);
    sqlite3_finalize(writer->add_symbol);
    sqlite3_close(writer->db);
    hdestroy_r(&writer->string_ids);
}

int store_symbols(const struct trace *trace, const struct symbol_name *names, size_t count,
                  struct err *err)
{
    struct writer writer = {0};
    int status = -1;

    if (trace->recording) {
        err_set(err, ERR_INPUT, "%s is still being recorded; resolve it when the program has ended",
                trace->path);
        return -1;
    }
    if (begin(&writer, trace, err))
        goto out;
    if (know_strings(&writer, trace, 2 * count)) {
        failed(trace, NULL, err);
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        if (add(&writer, &names[i])) {
            failed(trace, writer.db, err);
            goto out;
        }
    status = sqlite3_exec(writer.db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK
                 ? 0
                 : failed(trace, writer.db, err);
out:
    close_writer(&writer);
    return status;
}
