/* SPDX-License-Identifier: MIT */
/*
 * Reads every table but event. The SELECTs come from tables.def, so that a table or column that the
 * format promises and the file lacks is found before anything is computed. It must not know what
 * events refer to.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_TABLES_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_TABLES_H

#include <sqlite3.h>

#include "trace.h"

/* A broken row is ERR_INPUT, which names the table and the row. */
int load_tables(struct trace *trace, sqlite3 *db, struct err *err);

#endif
