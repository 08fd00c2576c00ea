/* SPDX-License-Identifier: MIT */
/*
 * Reads the table event, by far the largest: one pass with one prepared statement, whose columns
 * come from event_columns.def. It must not know more of an event's kind than its range.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_EVENTS_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_EVENTS_H

#include <sqlite3.h>

#include "trace.h"

/* To be called after load_tables. A broken row is ERR_INPUT, which names the table and the row. */
int load_events(struct trace *trace, sqlite3 *db, struct err *err);

#endif
