/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations: the first and the last of them, with what the card had said by then. It must
 * not know why one failed.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_FAILURES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_FAILURES_H

#include "analyzer/util/address_map.h"
#include "analyzer/replay/history/cursor.h"

/* Zeroed is empty and ready for use. */
struct failures {
    struct address_map
        driver_failed;         /* whether each thread's last allocation did; see failures.c */
    uint32_t thread_id, state; /* the entry that was written last */
    bool has_written;
};

void failures_release(struct failures *failures);

/* The current event failed to allocate memory of the stock, in a phase with that path. */
int failures_add(struct failures *failures, const struct cursor *at, uint32_t stock, uint32_t path);
/* The sample of that event turns out to speak of a later one. */
void failures_learn(struct history *history, uint64_t sample_index, uint64_t told_index);
/* After an event of kind ALLOC, whatever became of it. */
int failures_note_alloc(struct failures *failures, const struct cursor *at);

#endif
