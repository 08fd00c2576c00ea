/* SPDX-License-Identifier: MIT */
/* Writes names into a trace file; see write_names.h. */
#include "write_names.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "trace/open_database.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text_set.h"
#include "analyzer/util/utf8.h"
#include "gpumemtrace/limits.h"

struct writer {
    sqlite3 *db;
    sqlite3_stmt *add_string, *add_symbol;
    struct text_set strings; /* texts of the file, followed by new texts */
    uint32_t *string_ids;    /* by index in `strings` */
    size_t id_capacity;
    uint32_t last_string_id;
};

static int write_failed(const struct trace *trace, sqlite3 *db, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot write names into %s: %s", trace->path,
                   db ? sqlite3_errmsg(db) : "out of memory for its strings");
}

/* --- strings --- */

/* The slot of the text's id; the id is 0 for a new text. NULL: out of memory. */
static uint32_t *id_of(struct writer *writer, const char *text)
{
    const size_t count = writer->strings.count;
    if (ARRAY_GROW(writer->string_ids, writer->id_capacity, count, NULL))
        return NULL;
    const uint32_t number = text_set_add(&writer->strings, text, NULL);
    if (number == TEXT_SET_NONE)
        return NULL;
    if (number == count)
        writer->string_ids[number] = 0;
    return &writer->string_ids[number];
}

static int index_strings(struct writer *writer, const struct trace *trace)
{
    for (size_t id = 1; id < trace->string_limit; id++) {
        uint32_t *found = trace->strings[id] ? id_of(writer, trace->strings[id]) : NULL;
        if (!found && trace->strings[id])
            return -1;
        if (found && !*found)
            *found = (uint32_t)id;
    }
    return 0;
}

static int run_insert(sqlite3_stmt *stmt)
{
    int status = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return status == SQLITE_DONE ? 0 : -1;
}

/* Cuts the name before it is looked up, because a demangled name may be longer than a text in a
 * trace may be. */
static int find_string_id(struct writer *writer, const char *name, uint32_t *id)
{
    char text[LIMIT_text_bytes + 1];
    snprintf(text, sizeof text, "%.*s", (int)utf8_cut_length(name, LIMIT_text_bytes), name);
    uint32_t *found = id_of(writer, text);
    if (!found)
        return -1;
    if (!*found) {
        *found = ++writer->last_string_id;
        sqlite3_bind_int64(writer->add_string, 1, *found);
        sqlite3_bind_text(writer->add_string, 2, text, -1, SQLITE_STATIC);
        if (run_insert(writer->add_string))
            return -1;
    }
    *id = *found;
    return 0;
}

/* --- the table --- */

/* Queries the file, because another process may have added strings since the trace was loaded. */
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

static int begin_writing(struct writer *writer, const struct trace *trace, struct err *err)
{
    if (open_database(trace->path, trace->path, SQLITE_OPEN_READWRITE, &writer->db, err))
        return -1;
    if (sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(writer->db, "DELETE FROM symbol", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(writer->db, "INSERT INTO string VALUES(?,?)", -1, &writer->add_string,
                           NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(writer->db, "INSERT INTO symbol VALUES(?,?,?,?,?)", -1,
                           &writer->add_symbol, NULL) == SQLITE_OK &&
        read_last_string_id(writer) == 0)
        return 0;
    return write_failed(trace, writer->db, err);
}

static int add_name(struct writer *writer, const struct symbol_name *name)
{
    uint32_t function_id, file_id = 0;
    if (find_string_id(writer, name->function, &function_id) ||
        (name->file && find_string_id(writer, name->file, &file_id)))
        return -1;
    sqlite3_bind_int64(writer->add_symbol, 1, (int64_t)name->address);
    sqlite3_bind_int64(writer->add_symbol, 2, name->level);
    sqlite3_bind_int64(writer->add_symbol, 3, function_id);
    sqlite3_bind_int64(writer->add_symbol, 4, file_id);
    sqlite3_bind_int64(writer->add_symbol, 5, name->line);
    return run_insert(writer->add_symbol);
}

static void close_writer(struct writer *writer)
{
    sqlite3_finalize(writer->add_string);
    sqlite3_finalize(writer->add_symbol);
    sqlite3_close(writer->db);
    text_set_release(&writer->strings);
    free(writer->string_ids);
}

int write_symbol_names(const struct trace *trace, const struct symbol_name *names, size_t count,
                       struct err *err)
{
    struct writer writer = {0};
    int status = -1;
    if (trace->recording)
        return err_set(err, ERR_INPUT,
                       "%s is still being recorded; resolve it when the program has ended",
                       trace->path);
    if (count > LIMIT_rows)
        return err_set(err, ERR_INPUT, "%s has %zu names of native frames, more than %d",
                       trace->path, count, LIMIT_rows);
    if (begin_writing(&writer, trace, err))
        goto out;
    if (index_strings(&writer, trace)) {
        write_failed(trace, NULL, err);
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        if (add_name(&writer, &names[i])) {
            write_failed(trace, writer.db, err);
            goto out;
        }
    status = sqlite3_exec(writer.db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK
                 ? 0
                 : write_failed(trace, writer.db, err);
out:
    close_writer(&writer);
    return status;
}
