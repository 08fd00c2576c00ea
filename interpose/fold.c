/* SPDX-License-Identifier: MIT */
/*
 * See fold.h. Three ways to a database that has everything:
 *
 *     no ring beside it                     open it read-only
 *     a dead recorder's ring, writable      drain the ring into it, set the facts, remove the ring
 *     a living recorder's ring, or a        copy the database into memory, drain the ring into the
 *     folder that cannot be written         copy (tails move in a private mapping only)
 */
#include "fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain.h"
#include "gpumemtrace/version.h"
#include "ring.h"
#include "store.h"

/* --- is it a trace? -------------------------------------------------------------------------------- */

static int64_t read_pragma(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *select = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        value = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return value;
}

static int check_file(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status)) {
        err_set(err, ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    if (S_ISDIR(status.st_mode)) {
        err_set(err, ERR_INPUT, "%s is a directory, not a trace", path);
        return -1;
    }
    if (access(path, R_OK)) {
        err_set(err, ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    if (status.st_size == 0) {
        err_set(err, ERR_INPUT, "%s is empty, not a trace", path);
        return -1;
    }
    return 0;
}

static int check_database(sqlite3 *db, const char *path, struct err *err)
{
    const int64_t application_id = read_pragma(db, "PRAGMA application_id");
    if (application_id < 0) {
        const int code = sqlite3_errcode(db);
        err_set(err, ERR_INPUT, "%s is %s", path,
                code == SQLITE_NOTADB ? "not a trace (not a SQLite file)" : sqlite3_errmsg(db));
        return -1;
    }
    if (application_id != GMT_TRACE_APPLICATION_ID) {
        err_set(err, ERR_INPUT, "%s is a SQLite file, but not a trace of gpumemtrace", path);
        return -1;
    }
    const int64_t format = read_pragma(db, "PRAGMA user_version");
    if (format > GMT_TRACE_FORMAT) {
        err_set(err, ERR_INPUT,
                "%s has trace format %lld, newer than %d: read it with a newer gpumemtrace", path,
                (long long)format, GMT_TRACE_FORMAT);
        return -1;
    }
    return 0;
}

/* A cut file opens, and fails only where the missing pages are asked for. */
static int check_length(sqlite3 *db, const char *path, struct err *err)
{
    struct stat status;
    const int64_t pages = read_pragma(db, "PRAGMA page_count");
    const int64_t page_bytes = read_pragma(db, "PRAGMA page_size");
    char wal[4200];
    snprintf(wal, sizeof wal, "%s-wal", path);
    if (stat(path, &status) == 0 && access(wal, F_OK) != 0 && status.st_size < pages * page_bytes) {
        err_set(err, ERR_INPUT, "%s is truncated: %lld of %lld bytes", path,
                (long long)status.st_size, (long long)(pages * page_bytes));
        return -1;
    }
    return 0;
}
