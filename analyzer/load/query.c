/* SPDX-License-Identifier: MIT */
/* Queries and their errors; see query.h. */
#include "query.h"

int query_prepare(const char *path, sqlite3 *db, const char *select, sqlite3_stmt **stmt,
                  struct err *err)
{
    if (sqlite3_prepare_v2(db, select, -1, stmt, NULL) == SQLITE_OK)
        return 0;
    return err_set(err, ERR_INPUT, "%s: not a usable trace: %s", path, sqlite3_errmsg(db));
}

int query_failed(const char *path, sqlite3 *db, const char *table, struct err *err)
{
    const int status = sqlite3_errcode(db);
    const char *why = status == SQLITE_INTERRUPT
                          ? "it takes more steps than a sound file of this size needs"
                          : sqlite3_errmsg(db);
    return err_set(err, status == SQLITE_NOMEM ? ERR_SYSTEM : ERR_INPUT,
                   "%s: cannot read table %s: %s", path, table, why);
}
