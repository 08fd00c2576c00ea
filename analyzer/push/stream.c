/* SPDX-License-Identifier: MIT */
/* Sends batches of rows; see stream.h. */
#include "stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int count_rows(struct stream *stream, uint64_t *count)
{
    struct text answer;
    text_init(&answer, 64);
    const int status = server_ask(stream->server, stream->count, &answer, &stream->err);
    *count = status ? 0 : strtoull(answer.data, NULL, 10);
    text_release(&answer);
    return status;
}

static int write_batch(struct stream *stream, const struct rows *batch)
{
    stream->sent_rows += batch->count;
    if (fwrite(batch->body.data, 1, batch->body.length, stream->file) == batch->body.length)
        return 0;
    return err_set(&stream->err, ERR_SYSTEM, "cannot write the rows of the table %s: %s",
                   fleet_tables[stream->table].name, strerror(errno));
}

/* Makes sure that a batch is in the table exactly once. If the connection broke, counts the rows of
 * the table before it sends the batch again. */
static int send_batch(struct stream *stream, const struct rows *batch)
{
    for (int attempt = 0; attempt < 5; attempt++) {
        uint64_t count;

        switch (server_send(stream->server, stream->insert, batch->body.data, batch->body.length,
                            &stream->err)) {
        case SERVER_SENT:
            stream->sent_rows += batch->count;
            return 0;
        case SERVER_REFUSED:
            return -1;
        case SERVER_UNKNOWN:
            break;
        }
        if (count_rows(stream, &count))
            return -1;
        if (count == stream->sent_rows + batch->count) {
            stream->sent_rows = count;
            return 0;
        }
        if (count != stream->sent_rows)
            break;
    }
    return err_set(&stream->err, ERR_INPUT,
                   "%s lost a part of the table %s while it was sent; push again",
                   server_name(stream->server), fleet_tables[stream->table].name);
}

static void *send_in_thread(void *self)
{
    struct stream *stream = self;
    const struct rows *batch = &stream->batches[stream->sending];
    stream->status = stream->file ? write_batch(stream, batch) : send_batch(stream, batch);
    return NULL;
}

/* Returns the status of the last batch. */
static int wait_for_batch(struct stream *stream, struct err *err)
{
    if (stream->is_under_way) {
        pthread_join(stream->thread, NULL);
        stream->is_under_way = false;
        rows_clear(&stream->batches[stream->sending]);
    }
    if (stream->status)
        *err = stream->err;
    return stream->status;
}

static int send_filled(struct stream *stream, struct err *err)
{
    if (rows_finish(stream_rows(stream), err) || wait_for_batch(stream, err))
        return -1;
    stream->sending = stream->filling;
    stream->filling = 1 - stream->filling;
    if (stream->full_bytes < STREAM_BATCH_BYTES)
        stream->full_bytes *= 2;
    stream->is_under_way = !pthread_create(&stream->thread, NULL, send_in_thread, stream);
    if (stream->is_under_way)
        return 0;
    send_in_thread(stream);
    rows_clear(&stream->batches[stream->sending]);
    return wait_for_batch(stream, err);
}

int stream_begin(struct stream *stream, struct server *server, enum fleet_table table,
                 const char *name, struct err *err)
{
    struct text insert;
    const char *separator = "(";

    *stream = (struct stream){.server = server, .table = table, .full_bytes = STREAM_FIRST_BYTES};
    for (int i = 0; i < 2; i++)
        rows_init_columns(&stream->batches[i], table);
    text_init_in(&insert, stream->insert, sizeof stream->insert);
    text_addf(&insert, "INSERT INTO %s ", name);
    for (int i = 0; i < FLEET_COLUMNS; i++)
        if (fleet_columns[i].table == (int)table) {
            text_addf(&insert, "%s%s", separator, fleet_columns[i].name);
            separator = ", ";
        }
    text_addf(&insert, ") FORMAT %s", rows_format(&stream->batches[0]));
    snprintf(stream->count, sizeof stream->count, "SELECT count() FROM %s", name);
    if (!text_failed(&insert))
        return 0;
    return err_set(err, ERR_INTERNAL, "the columns of the table %s have no room", name);
}

void stream_begin_file(struct stream *stream, enum fleet_table table, const struct fleet_key *key,
                       FILE *file)
{
    *stream = (struct stream){.table = table, .file = file, .full_bytes = STREAM_FIRST_BYTES};
    for (int i = 0; i < 2; i++)
        rows_init(&stream->batches[i], table, key);
}

int stream_passed(struct stream *stream, struct err *err)
{
    const struct rows *rows = stream_rows(stream);
    return rows->bytes < stream->full_bytes && rows->count < STREAM_BATCH_ROWS &&
                   !rows->is_out_of_memory
               ? 0
               : send_filled(stream, err);
}

int stream_end(struct stream *stream, struct err *err)
{
    uint64_t count;
    if ((stream_rows(stream)->count && send_filled(stream, err)) ||
        rows_check(stream_rows(stream), err) || wait_for_batch(stream, err))
        return -1;
    if (stream->file)
        return 0;
    if (count_rows(stream, &count)) {
        *err = stream->err;
        return -1;
    }
    if (count == stream->sent_rows)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s has %" PRIu64 " rows of the table %s in place of %" PRIu64 "; push again",
                   server_name(stream->server), count, fleet_tables[stream->table].name,
                   stream->sent_rows);
}

void stream_release(struct stream *stream)
{
    struct err err;
    wait_for_batch(stream, &err);
    for (int i = 0; i < 2; i++)
        rows_release(&stream->batches[i]);
}
