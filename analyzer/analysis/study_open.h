/* SPDX-License-Identifier: MIT */
/* Opens a study: loads a trace, and replays it for the analyses that were asked for. */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STUDY_OPEN_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STUDY_OPEN_H

#include "study.h"

/*
 * Opens a trace, in one pass over its events if possible. More passes or queries are needed for:
 *
 *   stops                         their number first, which SQLite counts
 *   a timeline by phase/category  a second replay, because the first one finds its moments
 *   a timeline by steps           a replay before, because any event may change what ends a step
 *   an end of a timeline that is  a replay before, because a peak is known only at the end
 *   given as a moment
 *   steps that nothing marks      a second replay of what needs steps, because the first one finds
 *                                 what repeats; the same if an optimizer that allocated only in
 *                                 the first steps hid later steps
 *
 * The events stay open until trace_close_events, for readers of further passes.
 */
int study_open(struct study *study, const char *path, const struct study_ask *ask, struct err *err);
void study_release(struct study *study);

/*
 * Replays the trace of a study once more, for moments that only the first pass shows. *again shares
 * its trace and symbols, and must be released first. A trace that still grows is opened again,
 * because its tables are older than its events.
 */
int study_open_again(struct study *again, const struct study *study, const struct study_ask *ask,
                     struct err *err);

/* Runs one more pass, for observers that need results of the first one. Its history is not kept. */
struct replay_plan;
int study_replay_again(const struct study *study, const struct replay_plan *plan, struct err *err);

#endif
