/* SPDX-License-Identifier: MIT */
/*
 * Replays a trace: one pass over its events, in order, fills a history. It must not know any
 * analysis.
 *
 *     event ──► handler of its kind ──► blocks begin, end, change size ──► history
 *                (table in replay.c)     stocks, mempools, spans and ranges count along
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H

#include "history.h"

/* The trace must outlive the history. -1: *err says why, and the history is released. */
int replay_trace(struct history *history, const struct trace *trace, struct err *err);

#endif
