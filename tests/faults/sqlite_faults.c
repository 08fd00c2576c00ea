/* SPDX-License-Identifier: MIT */
/*
 * Stands between the recorder and its SQLite, in a library that is linked for the tests only. There the
 * recorder calls faulty_X instead of sqlite3_X, and a planned call fails as X may fail. Left out are
 * functions that cannot fail: binding of numbers and of static text, and readers of a result.
 */
#include <sqlite3.h>
#include <stdbool.h>

#include "tests/programs/harm/faults.h"

/* In preload_faults.c, if that is preloaded. */
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
FAULTY(open_v2, SQLITE_CANTOPEN, (const char *path, sqlite3 **db, int flags, const char *vfs), (path, db, flags, vfs))
FAULTY(exec, SQLITE_FULL, (sqlite3 *db, const char *sql, callback_function *callback, void *argument, char **message), (db, sql, callback, argument, message))
FAULTY(prepare_v2, SQLITE_NOMEM, (sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **made, const char **tail), (db, sql, bytes, made, tail))
FAULTY(prepare_v3, SQLITE_NOMEM, (sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **made, const char **tail), (db, sql, bytes, flags, made, tail))
FAULTY(step, SQLITE_IOERR, (sqlite3_stmt *statement), (statement))
FAULTY(create_module, SQLITE_NOMEM, (sqlite3 *db, const char *name, const sqlite3_module *module, void *argument), (db, name, module, argument))
FAULTY(declare_vtab, SQLITE_NOMEM, (sqlite3 *db, const char *sql), (db, sql))
FAULTY(busy_timeout, SQLITE_MISUSE, (sqlite3 *db, int timeout_ms), (db, timeout_ms))
/* clang-format on */

/* These do their work even when they report an error. */
int faulty_reset(sqlite3_stmt *statement);
int faulty_finalize(sqlite3_stmt *statement);
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

void *faulty_malloc(int bytes)
{
    return fails() ? (void *)0 : sqlite3_malloc(bytes);
}
