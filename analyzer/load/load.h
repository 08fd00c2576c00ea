/* SPDX-License-Identifier: MIT */
/*
 * The two halves of reading a trace, private to analyzer/trace: the small tables and the events.
 * Both report a broken row as ERR_INPUT that names the table and the row.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_H

#include <sqlite3.h>

#include "trace.h"

int load_tables(struct trace *trace, sqlite3 *db, struct err *err);
int load_events(struct trace *trace, sqlite3 *db, struct err *err);

/* Prepares select; a missing table or column becomes ERR_INPUT. */
int load_prepare(const struct trace *trace, sqlite3 *db, const char *select, sqlite3_stmt **stmt,
                 struct err *err);
/* What a failing sqlite3_step says, as ERR_INPUT or ERR_SYSTEM. Always returns -1. */
int load_failed(const struct trace *trace, sqlite3 *db, const char *table, struct err *err);

#endif
