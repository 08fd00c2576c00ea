/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations as the program saw them, in the order of their events. The first and the last
 * failures are kept, with the card's last sample, and with whether the program went on.
 *
 * Later events decide whether a refused call was a failure. Until they do, the refused call waits
 * in a queue. All later failures wait behind it, so that failures are numbered in order.
 */
#pragma once

#include "analyzer/replay/history/cursor.h"

struct waiting_failure {
    struct failure failure;
    enum { REFUSAL_WAITS, REFUSAL_IS_FAILURE, REFUSAL_IS_GONE } state;
    uint64_t served_address, served_bytes; /* a request of the same size that was served later */
    bool is_optional;                      /* the framework can do without the memory */
};

/* Appends a copy of the failure to the queue. The result is valid until the next call. NULL: out of
 * memory. */
struct waiting_failure *failures_wait(const struct cursor *at, const struct failure *failure);
/*
 * Takes the decided failures from the front of the queue and numbers them. If the queue is too
 * long, also takes an undecided one, as a failure.
 */
int failures_settle(const struct cursor *at);
/* Called at the end of the trace. Refusals that are still undecided count as failures. */
int failures_finish(const struct cursor *at);

/* The last failure of the event's thread, kept or waiting; NULL: none. */
struct failure *failures_last_of_thread(const struct cursor *at);

/* Handles the current event, which is a successful or failed allocation that is not part of an
 * earlier failure. */
void failures_note_attempt(const struct cursor *at);
/* Called when it turns out that the sample of event sample_index describes event reported_index. */
void failures_learn(struct history *history, uint64_t sample_index, uint64_t reported_index);
