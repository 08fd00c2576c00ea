/* SPDX-License-Identifier: MIT */
/*
 * Reads the tables walk and holder: what kept storages of Python's objects alive. A trace that was
 * recorded before there were walks lacks both tables, and has no walks.
 */
#pragma once

#include <sqlite3.h>

#include "trace.h"

/* A broken row is ERR_INPUT, and the message names the table and the row. */
int load_holders(struct trace *trace, sqlite3 *db, struct err *err);
