/* SPDX-License-Identifier: MIT */
/*
 * What other processes held of a card when an allocation failed, from their own traces. A trace is a
 * neighbour's if it is of the same card (its UUID) and of the same boot of the machine: both have the
 * system's monotonic clock. It must not know how this is shown.
 *
 *     this trace   ──────────────── failure
 *     a neighbour       ─────────────┊──────    what it held then, and a context
 *     another one  ─────────         ┊          over by then: nothing
 *
 * A process that is over, or that has not begun, holds nothing. A trace counts its context with what
 * others had in use at its start; so all contexts of the card are assumed to be alike: an equal share of what is in
 * use and counted by nobody, at most what any of the traces saw, and at most 1 GiB. Traces that count more together
 * than the card had in use share no card, as two dry runs do, and tell nothing.
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_NEIGHBOURS_H
#define GPUMEMTRACE_ANALYZER_OOM_NEIGHBOURS_H

#include "analyzer/analysis/study.h"

/* Of many failures, only the last ones: each asks for a reading of each neighbour. */
enum { NEIGHBOUR_FAILURES = 4 };

/* Fills failure.traced of the study's last failures from the traces at the other paths; paths[own] is the study's. */
int neighbours_join(struct study *study, const char *const *paths, int count, int own,
                    struct err *err);

#endif
