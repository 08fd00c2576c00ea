/* SPDX-License-Identifier: MIT */
/*
 * The virtual table ring_batch: ring slots as rows with the columns of the table event, so that one
 * INSERT … SELECT stores a batch without binding anything. It must not know who fills the batch.
 */
#ifndef GPUMEMTRACE_TRACE_BATCH_TABLE_H
#define GPUMEMTRACE_TRACE_BATCH_TABLE_H

#include <sqlite3.h>

#include "store.h"

/* batch must outlive db. A SQLite status. */
int batch_table_register(sqlite3 *db, struct store_batch *batch);

#endif
