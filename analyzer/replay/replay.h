/* SPDX-License-Identifier: MIT */
/* Computes the history of a trace from its events. */
#pragma once

#include "analyzer/load/event_source.h"
#include "analyzer/replay/history/history.h"
#include "analyzer/replay/history/observer.h"

/* The moment that is kept in account.asked, in addition to the peaks and the failures. */
enum asked_kind {
    ASKED_NONE,
    ASKED_END,     /* the last event that counts */
    ASKED_TIME,    /* the last event before the first one later than `number` ns */
    ASKED_SEQ,     /* the last event with a seq of at most `number` */
    ASKED_FAILURE, /* failed allocation `number`, from 1; only for accounts on its device */
    ASKED_PHASE,   /* each account's highest moment while a phase with that name or path is open */
};

/* The questions that the history must be able to answer. */
struct replay_plan {
    enum asked_kind asked;
    uint64_t number;
    const char *name;
    const uint64_t *stops; /* ascending indices of further moments to keep */
    size_t stop_count;
    uint64_t events_most;      /* the replay ends after this many events; 0: no limit */
    bool ignores_segments;     /* segments and failures are not needed */
    bool ignores_times;        /* times of events are not needed, so their column is not read */
    bool forgets;              /* blocks that were live at past moments are not needed */
    bool takes_library_ranges; /* NVTX ranges in libraries' own domains also become phases */
    uint8_t (*rule_of)(const char *name); /* sets path.rule of a phase; may be NULL */
    struct observers observers;
    struct keeper keeper;
};

/*
 * A replay of a growing trace. The caller passes batches in the order of their events, and brings
 * the history up to date between batches. trace, history, plan and err must outlive the replay. If
 * a function returns NULL or -1, *err says why.
 *
 *     replay_begin ─► replay_take, replay_take … ─► replay_pause: history and observers up to date
 *                      └────── replay_learn, if the tables of the trace have grown ◄──┘
 */
struct replay;
struct replay *replay_begin(struct history *history, const struct trace *trace,
                            const struct replay_plan *plan, struct err *err);
int replay_take(struct replay *replay, const struct event_batch *batch);
/*
 * Sets the last moment and the leading accounts, and calls on_end of the observers, which must
 * allow several calls.
 */
int replay_pause(struct replay *replay);
int replay_learn(struct replay *replay);
void replay_end(struct replay *replay);

/*
 * Fills the history in one pass; the caller releases the history. If it returns -1, *err says why,
 * and there is nothing to release. history.h says what is kept.
 */
int replay_trace(struct history *history, const struct trace *trace,
                 const struct event_source *source, const struct replay_plan *plan,
                 struct err *err);
