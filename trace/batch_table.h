/* SPDX-License-Identifier: MIT */
/*
 * The virtual table ring_batch: shows a batch with the columns of the table event, so that one
 * INSERT … SELECT stores it without binding a value.
 */
#pragma once

#include <sqlite3.h>

#include "batch.h"

/* The table shows the current contents of *batch; batch must outlive db. Returns SQLite's
 * status. */
int batch_table_register(sqlite3 *db, struct batch *batch);
