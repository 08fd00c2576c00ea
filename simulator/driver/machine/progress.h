/* SPDX-License-Identifier: MIT */
/*
 * Tracks how much work of each stream is done, as far as the host can know. With --events=done, all
 * work is done when the call that submits it returns. With --events=late, no work is done until the
 * host waits for it:
 *
 *     stream A   work 1   event at 2            work 5
 *     stream B                      waits for 2 at 3   work 4  waiting for B at 4 reaches A up to 2
 *
 * Work is numbered over all streams. Each event keeps the points that its stream had to wait for.
 * The legacy stream and blocking streams (without CU_STREAM_NON_BLOCKING) wait for each other. With
 * --events=late, a program that only polls (cuEventQuery) would poll for ever. So after a limited
 * number of queries the answer is yes.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include "context_state.h"

/* A query is answered with yes if it is the 100th in a row, with no work submitted in between, or
 * the 1,000th in all. The manual gives both numbers. */
#define PROGRESS_IN_A_ROW 100
#define PROGRESS_IN_ALL 1000

struct stream_name {
    uint64_t id; /* unique in this process */
    uint64_t context_id;
    bool is_legacy, is_blocking;
};

struct point {
    uint64_t lane, number;
};

struct points {
    struct point *items;
    size_t count;
};

struct questions {
    unsigned in_all, in_a_row;
    uint64_t submitted; /* number of the last work at the last query */
};

/* A point in a stream: the end of all work submitted to it so far. All zero: always reached. */
struct place {
    struct point at;
    struct points after; /* points that must be reached before this place */
    struct questions questions;
};

void place_release(struct place *place);

/* Returns whether GPUMEMTRACE_EVENTS is "late". If not, all work counts as done. */
bool progress_is_late(void);

/* Submits work to the stream. */
void progress_submit(struct stream_name stream);
/* Sets *place to the current end of the stream. false: out of memory. */
bool progress_note(struct stream_name stream, struct place *place);
/* Makes later work of the stream wait for the place. false: out of memory. */
bool progress_put_after(struct stream_name stream, const struct place *place);

/* Answers a query by the host. */
bool progress_is_reached(struct place *place);
bool progress_is_idle(struct stream_name stream);
/* Returns the same as progress_is_reached, but does not count as a query. */
bool progress_was_reached(const struct place *place);

/* Called when the host waits for the place. */
void progress_wait_for(const struct place *place);
void progress_wait_for_stream(struct stream_name stream);
/* NULL has no effect. */
void progress_wait_for_context(const struct context *context);
