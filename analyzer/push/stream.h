/* SPDX-License-Identifier: MIT */
/*
 * Sends rows to a table in batches. A thread sends one batch while the caller fills the other.
 *
 *     stream_rows → fill → stream_passed ─┐ batch is full
 *          ▲                              ▼
 *          └───── the other batch    thread: INSERT
 *
 * If the connection breaks during a batch, the table's row count says whether the batch arrived.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>

#include "analyzer/fleet/rows.h"
#include "analyzer/fleet/server.h"

/* A batch is smaller than one ClickHouse block, so that it arrives whole or not at all. The first
 * one is small, so that the server has something to do soon; each next one is twice as large. */
enum { STREAM_FIRST_BYTES = 2 << 20, STREAM_BATCH_BYTES = 16 << 20, STREAM_BATCH_ROWS = 1 << 18 };

struct stream {
    struct server *server;
    FILE *file; /* instead of a server */
    enum fleet_table table;
    char insert[640]; /* "INSERT INTO … FORMAT Native" */
    char count[160];  /* "SELECT count() FROM …" */
    struct rows batches[2];
    int filling;
    size_t full_bytes; /* size at which the batch that is filled is sent */

    /* Owned by the thread that sends. The caller reads them only while no batch is under way. */
    pthread_t thread;
    bool is_under_way;
    int sending, status;
    uint64_t sent_rows;
    struct err err;
};

/* The table must be empty. Rows have no key, because the table sets the key's columns itself. */
int stream_begin(struct stream *stream, struct server *server, enum fleet_table table,
                 const char *name, struct err *err);
/* Begins a stream into a file. The rows of the file begin with the key. */
void stream_begin_file(struct stream *stream, enum fleet_table table, const struct fleet_key *key,
                       FILE *file);
/* Returns the batch that gets the next row. */
static inline struct rows *stream_rows(struct stream *stream)
{
    return &stream->batches[stream->filling];
}
/* Call it after each row. It sends the batch if the batch is full. Returns -1 if an earlier batch
 * failed. */
int stream_passed(struct stream *stream, struct err *err);
/* Sends the last batch, waits for it, and checks that the table has as many rows as were sent. */
int stream_end(struct stream *stream, struct err *err);
/* Waits for the batch under way, but sends nothing more. */
void stream_release(struct stream *stream);
