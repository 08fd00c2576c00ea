/* SPDX-License-Identifier: MIT */
/*
 * Samples of the card's free memory. They show the bytes that a call took and that no allocation
 * explains: the difference between the samples before and after the call.
 *
 *     call of hook H       ┌───────────── H ─────────────┐
 *     events, in order     sample   (others…)   sample   load or limit     all with one call_id
 *                          before               after
 */
#pragma once

#include "accounts.h"

/* A zeroed struct is empty and ready for use. */
struct memory_samples {
    struct thread_samples *threads; /* samples that wait for the event of their call */
    size_t count, capacity;
    struct pair_map by_thread;
};

void memory_samples_release(struct memory_samples *samples);

/* Handles the current event, which is a sample. */
int memory_samples_add(struct memory_samples *samples, const struct cursor *at,
                       const struct accounts *accounts);

/*
 * Handles the current event, which is an allocation. A sample that was taken inside the call of
 * this event describes the state after the event.
 */
void memory_samples_tell(struct memory_samples *samples, const struct cursor *at);

/*
 * The bytes that the current event's call took, less the bytes that it gave back. The bytes that
 * were recorded for this process during the call are not included. 0: there are fewer than two
 * samples. Call it only once for each hooked call, because it removes the samples.
 */
int64_t memory_samples_taken(struct memory_samples *samples, const struct cursor *at);
