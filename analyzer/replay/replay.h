/* SPDX-License-Identifier: MIT */
/* From the events of a trace to its history. It must not know analyses. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H

#include "analyzer/load/event_source.h"
#include "analyzer/replay/history/history.h"
#include "analyzer/replay/history/observer.h"

/* The moment that is kept beside the peaks and the failures: account.asked. */
enum asked_kind {
    ASKED_NONE,
    ASKED_END,     /* the last event that counts */
    ASKED_TIME,    /* the last event before the first that is later than `number` ns */
    ASKED_SEQ,     /* the last event whose seq is at most `number` */
    ASKED_FAILURE, /* failed allocation `number`, from 1; only for the accounts of its device */
    ASKED_PHASE,   /* each account's highest, while a phase of that name or path is open */
};

/* What somebody will ask of the history. */
struct replay_plan {
    enum asked_kind asked;
    uint64_t number;
    const char *name;
    const uint64_t *stops; /* ascending indices: moments that are kept too */
    size_t stop_count;
    uint64_t events_most;      /* the replay ends after so many; 0: it does not */
    bool ignores_segments;     /* of the history nobody asks for segments, nor for failures */
    bool ignores_times;        /* nor for when an event was: the column is not read again */
    bool forgets;              /* nor for what was live at any moment of the past */
    bool takes_library_ranges; /* NVTX ranges of libraries' own domains are phases, too */
    uint8_t (*rule_of)(const char *name); /* of a phase: path.rule; may be NULL */
    struct observers observers;
    struct keeper keeper;
};

/*
 * A replay that goes on while its trace grows: batches are given to it, in the order of their events, and
 * between them it is brought up to date. trace, history, plan and err outlive it; -1, or NULL: *err says why.
 *
 *     replay_begin ─► replay_take, replay_take … ─► replay_pause (the history, and observers, as of now)
 *                      └────── replay_learn, where the tables of the trace have grown ◄──┘
 */
struct replay;
struct replay *replay_begin(struct history *history, const struct trace *trace,
                            const struct replay_plan *plan, struct err *err);
int replay_take(struct replay *replay, const struct event_batch *batch);
/* The last moment, the leading layers, and on_end of the observers, which have to bear it several times. */
int replay_pause(struct replay *replay);
int replay_learn(struct replay *replay);
void replay_end(struct replay *replay);

/*
 * Fills the history, which the caller releases. -1: *err says why, and nothing is to be released.
 * One pass; see history.h for what it keeps.
 */
int replay_trace(struct history *history, const struct trace *trace,
                 const struct event_source *source, const struct replay_plan *plan,
                 struct err *err);

#endif
