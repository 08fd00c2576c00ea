/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations as the program met them, in the order of their events: the first and the last
 * failures, with the card's last sample, and whether the program went on.
 *
 * Later events decide whether a refused call was a failure. Until then it waits in a queue, and all
 * later failures wait behind it, so that failures are numbered in order.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_FAILURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_FAILURES_H

#include "analyzer/replay/history/cursor.h"

struct waiting_failure {
    struct failure failure;
    enum { REFUSAL_WAITS, REFUSAL_IS_FAILURE, REFUSAL_IS_GONE } state;
    uint64_t served_address, served_bytes; /* what the driver served later, in the same size */
    bool is_optional;                      /* the framework can do without the memory */
};

/* Appends to the queue. NULL: out of memory. The pointer is valid until the next call. */
struct waiting_failure *failures_wait(const struct cursor *at, const struct failure *failure);
/*
 * Numbers the decided failures at the front of the queue; treats the front as decided if the queue
 * is too long.
 */
int failures_settle(const struct cursor *at);
/* At the end of the trace: undecided refusals were failures. */
int failures_finish(const struct cursor *at);

/* The last failure of the event's thread, kept or waiting; NULL: none. */
struct failure *failures_last_of_thread(const struct cursor *at);

/* The current event is an allocation, or a failed one, that is not part of an earlier failure. */
void failures_note_attempt(const struct cursor *at);
/* The sample of event sample_index turns out to describe event reported_index. */
void failures_learn(struct history *history, uint64_t sample_index, uint64_t reported_index);

#endif
