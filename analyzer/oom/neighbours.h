/* SPDX-License-Identifier: MIT */
/*
 * Counts how much of a card other processes held when an allocation failed, from their own traces.
 * A trace is a neighbour's if it has the same card (by UUID) and the same boot of the machine,
 * because both then share the system's monotonic clock.
 *
 *     this trace   ──────────────── failure
 *     a neighbour       ─────────────┊──────    what it held then, and a context
 *     another one  ─────────         ┊          over by then: nothing
 *
 * A process that has ended, or not yet begun, holds nothing. A trace cannot tell its own context
 * from what others had in use at its start. So all contexts on the card are assumed to have the
 * same size: an equal share of the bytes in use that no trace counts, at most what any of the
 * traces saw, and at most 1 GiB. If the traces together count more than the card had in use, they
 * are not on one card (two dry runs, for example) and are ignored.
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_NEIGHBOURS_H
#define GPUMEMTRACE_ANALYZER_OOM_NEIGHBOURS_H

#include "analyzer/analysis/study.h"

/* Only this many of the last failures are looked up, because each one reads each neighbour
 * again. */
enum { NEIGHBOUR_FAILURES = 4 };

/* Fills failure.traced of the study's last failures from the traces at the other paths.
 * paths[own] is the study's own trace. */
int neighbours_join(struct study *study, const char *const *paths, int count, int own,
                    struct err *err);

#endif
