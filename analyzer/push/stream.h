/* SPDX-License-Identifier: MIT */
/*
 * Rows on their way to a table, a batch at a time: while one is sent, the next one is made. It must not know what the rows
 * are.
 *
 *     stream_rows → fill → stream_passed ─┐ batch is full
 *          ▲                              ▼
 *          └───── the other batch    thread: INSERT
 *
 * Of a batch that the connection broke at, the table's count says whether it arrived.
 */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_STREAM_H
#define GPUMEMTRACE_ANALYZER_PUSH_STREAM_H

#include <pthread.h>
#include <stdio.h>

#include "analyzer/fleet/rows.h"
#include "analyzer/fleet/server.h"

/* Less than ClickHouse takes as one block, so that a batch is there whole or not at all. */
enum { STREAM_BATCH_BYTES = 16 << 20, STREAM_BATCH_ROWS = 1 << 18 };

struct stream {
    struct server *server;
    FILE *file; /* in place of a server */
    enum fleet_table table;
    char insert[640]; /* "INSERT INTO … FORMAT TabSeparated" */
    char count[160];  /* "SELECT count() FROM …" */
    struct rows batches[2];
    int filling;

    /* Of the thread that sends; the caller looks when none is under way. */
    pthread_t thread;
    bool is_under_way;
    int sending, status;
    uint64_t sent_rows;
    struct err err;
};

/* The table is empty, and its key's columns have values of their own. */
int stream_begin(struct stream *stream, struct server *server, enum fleet_table table,
                 const char *name, struct err *err);
/* The same into a file, whose rows begin with a key. */
void stream_begin_file(struct stream *stream, enum fleet_table table, const struct fleet_key *key,
                       FILE *file);
/* The rows to add the next one to. */
static inline struct rows *stream_rows(struct stream *stream)
{
    return &stream->batches[stream->filling];
}
/* After a row. -1: a batch before it failed. */
int stream_passed(struct stream *stream, struct err *err);
/* Sends the rest and waits for all; looks whether the table has as many rows as were sent. */
int stream_end(struct stream *stream, struct err *err);
/* Waits for what is under way; sends nothing more. */
void stream_release(struct stream *stream);

#endif
