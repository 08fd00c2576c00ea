/* SPDX-License-Identifier: MIT */
/*
 * How far streams have come, as far as the host can know. With --events=done all work is done when the
 * call that submits it returns. With --events=late nothing is, until the host waits for it:
 *
 *     stream A   work 1   event at 2            work 5
 *     stream B                      waits for 2 at 3   work 4      waiting for B at 4 reaches A up to 2
 *
 * Work has a number, over all streams. What a stream's work came after is kept with each event. The
 * legacy stream and those that are not CU_STREAM_NON_BLOCKING come after each other, too. A
 * program that only asks (cuEventQuery) would never end: after a bounded number of questions the answer
 * is yes. It must not know what the work is.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_PROGRESS_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_PROGRESS_H

#include "context_state.h"

/* A question is answered with yes if it is the 100th in a row, with nothing submitted between, or the
 * 1,000th in all. The manual has both numbers. */
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
    uint64_t submitted; /* work, at the last one */
};

/* A place in a stream: all that was submitted to it before. All zero: always reached. */
struct place {
    struct point at;
    struct points after; /* what else must be reached before */
    struct questions questions;
};

void place_release(struct place *place);

/* Whether anything is kept here; else all is reached. */
bool progress_is_late(void);

/* Work is submitted to the stream. */
void progress_submit(struct stream_name stream);
/* Where the stream is now. false: out of memory. */
bool progress_note(struct stream_name stream, struct place *place);
/* What is submitted to the stream from now on comes after the place. */
bool progress_put_after(struct stream_name stream, const struct place *place);

/* The host asks: has it been reached? */
bool progress_is_reached(struct place *place);
bool progress_is_idle(struct stream_name stream);
/* Not counted as a question. */
bool progress_was_reached(const struct place *place);

/* The host waits. */
void progress_wait_for(const struct place *place);
void progress_wait_for_stream(struct stream_name stream);
/* NULL: none. */
void progress_wait_for_context(const struct context *context);

#endif
