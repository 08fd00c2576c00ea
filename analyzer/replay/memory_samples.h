/* SPDX-License-Identifier: MIT */
/*
 * What the card said of its free memory, and what a call took of it that no allocation accounts
 * for: the difference between the samples before and after the call. It must not know blocks.
 *
 *     call of hook H       ┌───────────── H ─────────────┐
 *     events, in order     sample   (others…)   sample   load or limit     all with one call_id
 *                          before               after
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_SAMPLES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_SAMPLES_H

#include "accounts.h"

/* Zeroed is empty and ready for use. */
struct memory_samples {
    struct thread_samples *threads; /* samples that wait for the event of their call */
    size_t count, capacity;
    struct pair_map by_thread;
};

void memory_samples_release(struct memory_samples *samples);

/* The current event is a sample. */
int memory_samples_add(struct memory_samples *samples, const struct cursor *at,
                       const struct accounts *accounts);

/* The current event is an allocation: a sample inside its call, taken after it, speaks of it. */
void memory_samples_tell(struct memory_samples *samples, const struct cursor *at);

/*
 * Bytes that the call of the current event took more than it gave back, less what the process
 * itself is known to have taken meanwhile. 0 without two samples. To be asked once for each call.
 */
int64_t memory_samples_taken(struct memory_samples *samples, const struct cursor *at);

#endif
