/* SPDX-License-Identifier: MIT */
/*
 * The rows of the table meta that are known when a recording starts: the process, its command, the
 * driver. drain_store_end writes the rows that are known only at the end.
 */
#pragma once

#include <stdint.h>

#include "trace/store.h"

/* Stores all rows in a single transaction. */
int meta_start_store(struct store *store, const char *run_id, const char *unwinder,
                     uint64_t start_monotonic_ns, struct err *err);
