/* SPDX-License-Identifier: MIT */
/*
 * Reads the table event from its beginning, on a thread of its own: while one batch is replayed, the
 * next is read. It must not know what events mean, but for the exit, after which nothing counts.
 *
 *     exit, _exit   is the end
 *     exec          is the end if its thread has no event after it; else it failed
 *
 * It keeps two batches, and for a trace with an exec one number for each thread.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_EVENT_READER_H
#define GPUMEMTRACE_ANALYZER_LOAD_EVENT_READER_H

#include "event_source.h"
#include "trace.h"

struct event_reader;

/*
 * One reader at a time: nobody else may use the trace's connection until it is freed. NULL: *err
 * says why. A broken row is ERR_INPUT, which names its seq.
 */
struct event_reader *event_reader_new(const struct trace *trace, struct err *err);
void event_reader_free(struct event_reader *reader);

struct event_source event_reader_source(struct event_reader *reader);

/* How many events count, without reading them: SQLite is asked, before there is a reader. */
int event_reader_count(const struct trace *trace, uint64_t *count, struct err *err);

#endif
