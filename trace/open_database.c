/* SPDX-License-Identifier: MIT */
/*
 * See open_database.h. Limits the actions of SQLite first, and checks each table that will be read
 * after that. A missing table or column is not an error here; the reader reports it.
 */
#include "open_database.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gpumemtrace/limits.h"
#include "schema.h"
#include "trace_file.h"

/* The recorder, and commands that fold or resolve, lock the database for a moment. */
#define BUSY_MS 5000

/* --- steps of SQLite's machine --- */

#define STEP_INTERVAL 100000
#define STEPS_PER_BYTE 200 /* an event takes 30 bytes, and 60 steps each time it is read */
#define STEPS_AT_LEAST 5000000

/* The pages of a damaged database may refer to each other so that a page is read a million times.
 * The budget stops that. */
struct step_budget {
    uint64_t left;
};

static int spend_steps(void *self)
{
    struct step_budget *budget = self;
    if (budget->left < STEP_INTERVAL)
        return 1;
    budget->left -= STEP_INTERVAL;
    return 0;
}

static uint64_t bytes_of(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-ring.0"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
        struct stat status;
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (stat(name, &status) == 0)
            bytes += (uint64_t)status.st_size;
    }
    return bytes;
}

static void no_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context, (void)count, (void)values;
}

/* The budget must live as long as the connection. So it belongs to an SQL function that is never
 * called, and is freed with it. */
static int limit_steps(sqlite3 *db, const char *path)
{
    struct step_budget *budget = malloc(sizeof *budget);
    if (!budget)
        return SQLITE_NOMEM;
    budget->left = STEPS_AT_LEAST + bytes_of(path) * STEPS_PER_BYTE;
    const int status = sqlite3_create_function_v2(db, "step_budget", 0, SQLITE_UTF8, budget,
                                                  no_function, NULL, NULL, free);
    if (status == SQLITE_OK)
        sqlite3_progress_handler(db, STEP_INTERVAL, spend_steps, budget);
    return status;
}

/* --- limiting SQLite --- */

static int restrain(sqlite3 *db, const char *path)
{
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, LIMIT_row_bytes}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
        {SQLITE_LIMIT_EXPR_DEPTH, 100},         {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const struct {
        int setting, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    };
    int status = sqlite3_busy_timeout(db, BUSY_MS);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].limit, limits[i].value);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == SQLITE_OK; i++)
        status = sqlite3_db_config(db, settings[i].setting, settings[i].value, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_drop_modules(db, NULL); /* then no virtual table works */
    if (status == SQLITE_OK)
        status = limit_steps(db, path);
    if (status == SQLITE_OK)
        status = sqlite3_exec(db, "PRAGMA cell_size_check=1;PRAGMA ignore_check_constraints=1",
                              NULL, NULL, NULL);
    return status;
}

/* --- tables --- */

/* Returns SQLITE_OK for a table and SQLITE_ERROR for a view. Any other error does not say which of
 * the two it is. */
static int find_table(sqlite3 *db, const char *name)
{
    return sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* The columns of table_xinfo are cid, name, type, notnull, default, key, hidden. */
static int check_table(sqlite3 *db, const char *shown, const char *table, struct err *err)
{
    char pragma[64];
    sqlite3_stmt *columns = NULL;
    const char *wrong = NULL;
    int step = SQLITE_ERROR;
    snprintf(pragma, sizeof pragma, "PRAGMA main.table_xinfo(%s)", table);
    if (sqlite3_prepare_v2(db, pragma, -1, &columns, NULL) == SQLITE_OK)
        while (!wrong && (step = sqlite3_step(columns)) == SQLITE_ROW) {
            const int found = find_table(db, table);
            if (found != SQLITE_OK && found != SQLITE_ERROR)
                break;
            wrong = found == SQLITE_ERROR            ? "is not a table"
                    : sqlite3_column_int(columns, 6) ? "has a computed column"
                                                     : NULL;
        }
    if (wrong)
        err_set(err, ERR_INPUT, "%s was not written by a recorder: %s %s", shown, table, wrong);
    else if (step != SQLITE_DONE)
        err_set(err, ERR_INPUT, "cannot read %s: table %s: %s", shown, table, sqlite3_errmsg(db));
    sqlite3_finalize(columns);
    return step == SQLITE_DONE ? 0 : -1;
}

static int check_tables(sqlite3 *db, const char *shown, struct err *err)
{
    for (size_t i = 0; i < schema_row_count; i++)
        if (schema_rows[i].table && check_table(db, shown, schema_rows[i].table, err))
            return -1;
    return 0;
}

/* --- opening --- */

static int open_as(const char *name, const char *path, const char *shown, int flags, sqlite3 **db,
                   struct err *err)
{
    if (sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        restrain(*db, path) != SQLITE_OK)
        err_set(err, ERR_INPUT, "cannot read %s: %s", shown,
                *db ? sqlite3_errmsg(*db) : "out of memory");
    else if (!check_tables(*db, shown, err))
        return 0;
    sqlite3_close(*db);
    *db = NULL;
    return -1;
}

/* "./" is put before the path, because SQLite reads "file:x" as an address and ":memory:" as no
 * file. */
int open_database(const char *path, const char *shown, int flags, sqlite3 **db, struct err *err)
{
    char name[PATH_MAX + 2];
    snprintf(name, sizeof name, "%s%s", *path == '/' ? "" : "./", path);
    return open_as(name, path, shown, flags, db, err);
}

int open_database_copy(sqlite3 *from, const char *path, sqlite3 **copy, struct err *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3_backup *backup;
    if (open_as(":memory:", path, path, flags, copy, err))
        return -1;
    if ((backup = sqlite3_backup_init(*copy, "main", from, "main")) &&
        sqlite3_backup_step(backup, -1) == SQLITE_DONE &&
        sqlite3_backup_finish(backup) == SQLITE_OK)
        return 0;
    err_set(err, ERR_SYSTEM, "cannot copy %s into memory: %s", path, sqlite3_errmsg(*copy));
    sqlite3_close(*copy);
    *copy = NULL;
    return -1;
}
