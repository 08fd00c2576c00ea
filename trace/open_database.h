/* SPDX-License-Identifier: MIT */
/*
 * Opens the database of a trace as an untrusted file. Only plain tables are read. The file's own
 * code (views, triggers, virtual tables, computed columns) does not run. Statements take no more
 * steps than a file of that size can need.
 */
#pragma once

#include <sqlite3.h>

#include "gpumemtrace/err.h"

/* flags are SQLITE_OPEN_…. `shown` is the file's name in messages. The caller closes *db, which is
 * NULL after an error. */
int open_database(const char *path, const char *shown, int flags, sqlite3 **db, struct err *err);

/* Copies an open database into memory. *copy is limited as by open_database. */
int open_database_copy(sqlite3 *from, const char *path, sqlite3 **copy, struct err *err);
