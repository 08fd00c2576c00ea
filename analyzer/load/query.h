/* SPDX-License-Identifier: MIT */
/* SQL queries of a trace file, and their error messages. */
#pragma once

#include <sqlite3.h>

#include "gpumemtrace/err.h"

/* Prepares `select`; a missing table or column is ERR_INPUT. */
int query_prepare(const char *path, sqlite3 *db, const char *select, sqlite3_stmt **stmt,
                  struct err *err);
/* Reports why sqlite3_step failed, as ERR_INPUT or ERR_SYSTEM. Always returns -1. */
int query_failed(const char *path, sqlite3 *db, const char *table, struct err *err);
