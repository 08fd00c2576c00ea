/* SPDX-License-Identifier: MIT */
/*
 * Replays a trace while the recorder is still writing it. Each pass (follow_step) reads the rows
 * that were stored since the pass before. A pass opens the file, reads in one short transaction and
 * closes the file, so that the recorder can checkpoint and close it as if no other process read the
 * file.
 *
 *     events   ├───── replayed ─────┼── behind ──┼─ not yet sure ─┤
 *              1                    seq          sure_seq         stored_seq
 *
 * Rows are stored almost in order of seq. A free is an exception: it takes its seq before the call
 * and is stored when the call returns. So a pass stops before the first event that still waits in
 * the ring. It also stops at the last row that was stored at the pass before, because a thread may
 * be interrupted between taking a seq and taking a slot in the ring.
 */
#pragma once

#include "analyzer/load/load_tables.h"
#include "analyzer/replay/replay.h"
#include "trace/ring_look.h"

struct follow {
    struct trace *trace; /* owned by the caller, as are history and plan */
    struct history *history;
    struct replay *replay;
    struct table_growth growth; /* of the last pass */
    struct ring_look ring;      /* of the last pass */
    uint64_t seq, sure_seq, stored_seq, stored_ns;
    uint64_t looked_ns;  /* start of the last pass, monotonic clock */
    uint64_t read_count; /* rows, including those after the exit */
    bool has_exit;       /* the exit is replayed: later rows do not count */
    bool is_caught_up;   /* everything up to sure_seq is replayed */
    struct err err;      /* the replay keeps a pointer to it */
};

/* Loads the tables and begins the replay, but reads no events. path must outlive follow. Returns 1
 * if the recorder is just creating the trace: open it again later. */
int follow_open(struct follow *follow, struct trace *trace, struct history *history,
                const char *path, const struct replay_plan *plan, struct err *err);
/* Replays events for about budget_ns. Then history and observers show the present state. Returns 1
 * if rows were missed or an exit was undone: close follow and open it again. */
int follow_step(struct follow *follow, uint64_t budget_ns, struct err *err);
/* Frees the replay. trace and history stay the caller's. */
void follow_close(struct follow *follow);
