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

/* What a reader has found in the rows so far: a column that is the same in all need not be read again. */
struct event_columns {
    uint64_t last_seq; /* 0: there was no row */
    struct event first;
    struct event varying; /* the bits in which others differ from the first row */
};

/*
 * One reader at a time: nobody else may use the trace's connection until it is freed. NULL: *err
 * says why. A broken row is ERR_INPUT, which names its seq. known: what a reader before it found in
 * all rows, which are then all that is read; NULL: nothing.
 */
struct event_reader *event_reader_new(const struct trace *trace, const struct event_columns *known,
                                      struct err *err);
/* The same of the events behind that seq, of a trace that grows: it reads no further ahead than a batch. */
struct event_reader *event_reader_after(const struct trace *trace, uint64_t seq, struct err *err);
void event_reader_free(struct event_reader *reader);

struct event_source event_reader_source(struct event_reader *reader);
/* Once the source has said that there are no more events. */
struct event_columns event_reader_columns(const struct event_reader *reader);

/* How many events count, without reading them: SQLite is asked, before there is a reader. */
int event_reader_count(const struct trace *trace, uint64_t *count, struct err *err);

#endif
