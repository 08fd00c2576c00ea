/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations as the program met them, in the order of their events: the first and the last
 * of them, with what the card had said by then, and whether the program went on. It must not know
 * which calls are one failure (refusals.h), nor why one failed.
 *
 * Of a refused call it may be known only later whether it was a failure. It waits in a queue, and
 * those behind it with it, so that failures are numbered in order.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_FAILURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_FAILURES_H

#include "analyzer/replay/history/cursor.h"

struct waiting_failure {
    struct failure failure;
    enum { REFUSAL_WAITS, REFUSAL_IS_FAILURE, REFUSAL_IS_GONE } state;
    uint64_t served_address, served_bytes; /* the same size, by the driver, after it; 0: nothing */
    bool is_optional;                      /* the framework can do without */
};

/* Puts it at the end of the queue. NULL: out of memory. The pointer is valid until the next call. */
struct waiting_failure *failures_wait(const struct cursor *at, const struct failure *failure);
/* Numbers those at the front of which it is known, or that have waited too long. */
int failures_settle(const struct cursor *at);
/* No event follows: what still waits was a failure. */
int failures_finish(const struct cursor *at);

/* The last one of the current event's thread, that is kept or waits; NULL: none. */
struct failure *failures_last_of_thread(const struct cursor *at);

/* The current event is an allocation, or an attempt at one, that is no part of an earlier failure. */
void failures_note_attempt(const struct cursor *at);
/* The sample of that event turns out to speak of a later one. */
void failures_learn(struct history *history, uint64_t sample_index, uint64_t reported_index);

#endif
