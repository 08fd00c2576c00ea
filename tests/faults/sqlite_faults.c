/* SPDX-License-Identifier: MIT */
/*
 * Makes SQLite calls fail as planned. The tests link a recorder library and a command of their own,
 * which call faulty_X instead of sqlite3_X. If a failure is planned, faulty_X returns an error that
 * sqlite3_X may return. The functions that bind numbers or static text, and those that read
 * numbers, cannot fail, so they have no faulty_X.
 */
#include <sqlite3.h>
#include <stdbool.h>

#include "tests/programs/harm/faults.h"

/* Defined in preload_faults.c; NULL if that is not preloaded. */
faults_now_function faults_now __attribute__((weak));

static bool fails(void)
{
    return faults_now && faults_now(FAULT_SQLITE);
}

#define FAULTY(name, failure, parameters, arguments)                                               \
    int faulty_##name parameters;                                                                  \
    int faulty_##name parameters                                                                   \
    {                                                                                              \
        return fails() ? failure : sqlite3_##name arguments;                                       \
    }

typedef int callback_function(void *argument, int columns, char **values, char **names);

/* clang-format off */
FAULTY(exec, SQLITE_FULL, (sqlite3 *db, const char *sql, callback_function *callback, void *argument, char **message), (db, sql, callback, argument, message))
FAULTY(prepare_v2, SQLITE_NOMEM, (sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **made, const char **tail), (db, sql, bytes, made, tail))
FAULTY(prepare_v3, SQLITE_NOMEM, (sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **made, const char **tail), (db, sql, bytes, flags, made, tail))
FAULTY(step, SQLITE_IOERR, (sqlite3_stmt *statement), (statement))
FAULTY(create_module, SQLITE_NOMEM, (sqlite3 *db, const char *name, const sqlite3_module *module, void *argument), (db, name, module, argument))
FAULTY(create_function_v2, SQLITE_NOMEM, (sqlite3 *db, const char *name, int count, int flags, void *argument, void (*call)(sqlite3_context *, int, sqlite3_value **), void (*row)(sqlite3_context *, int, sqlite3_value **), void (*end)(sqlite3_context *), void (*gone)(void *)), (db, name, count, flags, argument, call, row, end, gone))
FAULTY(declare_vtab, SQLITE_NOMEM, (sqlite3 *db, const char *sql), (db, sql))
FAULTY(backup_step, SQLITE_IOERR, (sqlite3_backup *backup, int pages), (backup, pages))
FAULTY(table_column_metadata, SQLITE_NOMEM, (sqlite3 *db, const char *database, const char *table, const char *column, char const **type, char const **collation, int *not_null, int *primary, int *automatic), (db, database, table, column, type, collation, not_null, primary, automatic))
FAULTY(busy_timeout, SQLITE_MISUSE, (sqlite3 *db, int timeout_ms), (db, timeout_ms))
/* clang-format on */

int faulty_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);

int faulty_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    *db = (sqlite3 *)0;
    return fails() ? SQLITE_CANTOPEN : sqlite3_open_v2(path, db, flags, vfs);
}

/* reset, finalize and backup_finish do their work even when they report an error. */
int faulty_reset(sqlite3_stmt *statement);
int faulty_finalize(sqlite3_stmt *statement);
int faulty_backup_finish(sqlite3_backup *backup);
sqlite3_backup *faulty_backup_init(sqlite3 *to, const char *name, sqlite3 *from,
                                   const char *from_name);
const unsigned char *faulty_column_text(sqlite3_stmt *statement, int column);
void *faulty_malloc(int bytes);

int faulty_reset(sqlite3_stmt *statement)
{
    const int status = sqlite3_reset(statement);
    return fails() ? SQLITE_IOERR : status;
}

int faulty_finalize(sqlite3_stmt *statement)
{
    const int status = sqlite3_finalize(statement);
    return fails() ? SQLITE_IOERR : status;
}

int faulty_backup_finish(sqlite3_backup *backup)
{
    const int status = sqlite3_backup_finish(backup);
    return fails() ? SQLITE_IOERR : status;
}

sqlite3_backup *faulty_backup_init(sqlite3 *to, const char *name, sqlite3 *from,
                                   const char *from_name)
{
    return fails() ? (sqlite3_backup *)0 : sqlite3_backup_init(to, name, from, from_name);
}

/* Fails as if there were no memory for the copy of the text. The result is NULL in this case, as
   for an SQL NULL; only the type of the column distinguishes the two. */
const unsigned char *faulty_column_text(sqlite3_stmt *statement, int column)
{
    return fails() ? (const unsigned char *)0 : sqlite3_column_text(statement, column);
}

void *faulty_malloc(int bytes)
{
    return fails() ? (void *)0 : sqlite3_malloc(bytes);
}
