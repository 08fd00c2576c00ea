/* SPDX-License-Identifier: MIT */
/* Opens a study: loads a trace, and replays it for the analyses that were asked for. */
#pragma once

#include "study.h"

/*
 * Opens a trace, in one pass over its events if possible. More passes or queries are needed for:
 *
 *   stops                         a query for the number of events, which SQLite counts
 *   a timeline by phase/category  a second replay, because the first one finds the moments
 *   a timeline by steps           an earlier replay, because any event may change what ends a step
 *   an end of a timeline that is  an earlier replay, because a peak is known only at the end
 *   given as a moment
 *   steps that nothing marks      a second replay for analyses that need steps, because the first
 *                                 one finds what repeats; also if an optimizer that allocated only
 *                                 in the first steps hid later steps
 *
 * The events stay open until trace_close_events is called, so that more passes can read them.
 */
int study_open(struct study *study, const char *path, const struct study_ask *ask, struct err *err);
void study_release(struct study *study);

/*
 * Replays the trace of a study once more, for moments that are known only after the first pass.
 * *again shares the trace and symbols of `study`, and must be released before `study`. A trace that
 * still grows is opened again, because the tables in memory are older than the events in the file.
 */
int study_open_again(struct study *again, const struct study *study, const struct study_ask *ask,
                     struct err *err);

/* Runs one more pass over the events, for observers that need results of the first pass. Does not
 * keep the history of this pass. */
struct replay_plan;
int study_replay_again(const struct study *study, const struct replay_plan *plan, struct err *err);
