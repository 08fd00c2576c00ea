/* SPDX-License-Identifier: MIT */
/*
 * Reads the table event from its beginning, on a thread of its own: while one batch is replayed,
 * the next one is read. The reader also finds the exit, after which events do not count. It keeps
 * two batches in memory.
 */
#pragma once

#include "event_source.h"
#include "trace.h"

struct event_reader;

/* Values of all rows that a reader has read. A column with one value need not be read again. */
struct event_columns {
    uint64_t last_seq; /* 0: there was no row */
    struct event first;
    struct event varying; /* bits that differ between rows */
};

/*
 * Starts a reader. Only one may exist, and nobody else may use the trace's connection until it is
 * freed. NULL: *err says why. A broken row is ERR_INPUT, and the message names the row's seq.
 * `known` has the columns that an earlier reader found; then only the rows of that reader are read.
 * known is NULL if there was no earlier reader.
 */
struct event_reader *event_reader_new(const struct trace *trace, const struct event_columns *known,
                                      struct err *err);
/* Does the same as event_reader_new for the events after `seq` of a growing trace. This reader has
 * no thread. */
struct event_reader *event_reader_after(const struct trace *trace, uint64_t seq, struct err *err);
void event_reader_free(struct event_reader *reader);

struct event_source event_reader_source(struct event_reader *reader);
/* Call it after the source has returned all events. */
struct event_columns event_reader_columns(const struct event_reader *reader);

/* Counts the events up to the exit by queries, without reading the rows. No reader may exist
 * yet. */
int event_reader_count(const struct trace *trace, uint64_t *count, struct err *err);
/* Finds the last event of a kind up to the exit: EVENT_ALLOC for a request, granted or not.
 * memories: a bit for each kind of memory that counts. seq 0: there is none. No reader may exist
 * yet. */
int event_reader_last(const struct trace *trace, enum event_kind kind, uint64_t memories,
                      uint64_t *seq, struct err *err);
