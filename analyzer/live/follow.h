/* SPDX-License-Identifier: MIT */
/*
 * A trace and its replay while the recorder goes on: each step reads what was stored since the last one.
 * The file is open during a step alone, in one short transaction, so that the recorder checkpoints and
 * closes it as if nobody read. It must not know what the replay is watched for.
 *
 *     events   ├───── replayed ─────┼── behind ──┼─ not yet sure ─┤
 *              1                    seq          sure_seq         stored_seq
 *
 * Rows come nearly in order: a free has its number before its call, and is stored when that returns.
 * So a step goes no further than the first event that still waits in the ring, and than what was stored
 * at the step before: between a number and its slot a thread may be interrupted.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_FOLLOW_H
#define GPUMEMTRACE_ANALYZER_LIVE_FOLLOW_H

#include "analyzer/load/load_tables.h"
#include "analyzer/replay/replay.h"
#include "trace/ring_look.h"

struct follow {
    struct trace *trace; /* the caller's, as are history and plan */
    struct history *history;
    struct replay *replay;
    struct table_growth growth; /* of the last step */
    struct ring_look ring;      /* the same */
    uint64_t seq, sure_seq, stored_seq, stored_ns;
    uint64_t looked_ns;  /* monotonic, of the last step */
    uint64_t read_count; /* rows, those after the exit too */
    bool has_exit;       /* nothing counts any more */
    bool is_caught_up;   /* all that is sure is replayed */
    struct err err;      /* what the replay points at */
};

/* Loads the tables and begins the replay; events are for the steps. path outlives it. 1: its recorder is just
 * making it; to be opened again. */
int follow_open(struct follow *follow, struct trace *trace, struct history *history,
                const char *path, const struct replay_plan *plan, struct err *err);
/* Replays for about that long; history and observers are then as of now. 1: what was read before is not all
 * that there was, or did not count after all: to be opened again. */
int follow_step(struct follow *follow, uint64_t budget_ns, struct err *err);
/* Frees the replay; trace and history are the caller's. */
void follow_close(struct follow *follow);

#endif
