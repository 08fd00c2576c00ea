/* SPDX-License-Identifier: MIT */
/*
 * The rows of the table meta: what is known when a recording starts, ends and goes on. It must not
 * know events.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_FACTS_H
#define GPUMEMTRACE_INTERPOSE_LIFE_FACTS_H

#include <stdint.h>

#include "trace/drain.h"
#include "trace/ring.h"
#include "trace/store.h"

int facts_store_start(struct store *store, const char *run_id, const char *unwinder,
                      uint64_t start_monotonic_ns, struct err *err);
/* Inside a transaction: all is written. */
int facts_store_end(struct store *store, const struct ring *ring, const struct drain *drain,
                    bool complete, struct err *err);
/* The end that was stored was none: an exec failed. Its EXIT event stays; the events behind it
 * tell. */
int facts_store_resumed(struct store *store, struct err *err);

#endif
