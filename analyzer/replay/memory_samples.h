/* SPDX-License-Identifier: MIT */
/*
 * Samples of the card's free memory, and the bytes that a call took which no allocation accounts
 * for: the difference between the samples before and after the call.
 *
 *     call of hook H       ┌───────────── H ─────────────┐
 *     events, in order     sample   (others…)   sample   load or limit     all with one call_id
 *                          before               after
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_SAMPLES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_SAMPLES_H

#include "accounts.h"

/* A zeroed struct is empty and ready for use. */
struct memory_samples {
    struct thread_samples *threads; /* samples that wait for the event of their call */
    size_t count, capacity;
    struct pair_map by_thread;
};

void memory_samples_release(struct memory_samples *samples);

/* The current event is a sample. */
int memory_samples_add(struct memory_samples *samples, const struct cursor *at,
                       const struct accounts *accounts);

/*
 * The current event is an allocation. A sample taken inside its call describes the state after it.
 */
void memory_samples_tell(struct memory_samples *samples, const struct cursor *at);

/*
 * Bytes that the current event's call took more than it gave back, without the bytes that are
 * recorded for this process meanwhile. 0: there are fewer than two samples. Call it once for each
 * hooked call, because the samples are removed.
 */
int64_t memory_samples_taken(struct memory_samples *samples, const struct cursor *at);

#endif
