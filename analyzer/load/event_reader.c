/* SPDX-License-Identifier: MIT */
/* Reads the table event ahead; see event_reader.h. */
#include "event_reader.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/util/progress.h"
#include "analyzer/util/text.h"
#include "query.h"

/*
 * SQLite passes each row to this custom SQL function, because sqlite3_column_* for each cell takes
 * a third longer. The function is the condition of the SELECT, and is true only when a batch is
 * full, so one sqlite3_step reads one batch. Rows come in the order of the primary key without
 * sorting. Views of the file cannot call it (SQLITE_DIRECTONLY).
 */
#define ROW_FUNCTION "gpumemtrace_event"

enum column {
#define COLUMN(field, ctype, sql, null_when, text) COLUMN_##field,
#include "gpumemtrace/schema/event_columns.def"
    COLUMN_COUNT
};

static const char *const column_names[] = {
#define COLUMN(field, ctype, sql, null_when, text) #field,
#include "gpumemtrace/schema/event_columns.def"
};

/* SQLite's integers are signed: a negative size or time is a broken value. */
static bool must_not_be_negative(enum column column)
{
    return column == COLUMN_seq || column == COLUMN_time_ns || column == COLUMN_size_bytes;
}

static int broken_event(const struct trace *trace, const struct event *event, enum column column,
                        struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: table event, row %llu: %s is missing or out of range",
                   trace->path, (unsigned long long)event->seq, column_names[column]);
}

/* Returns the broken column, or COLUMN_COUNT. *event already has the columns in is_known. */
static enum column read_event(sqlite3_value **cells, const bool *is_known, struct event *event)
{
#define NEVER INT64_MIN /* the column is never NULL; no column needs this value */
#define WHEN(value) (value)
#define COLUMN(field, ctype, sql, null_when, text)                                                 \
    if (!is_known[COLUMN_##field]) {                                                               \
        int type = sqlite3_value_type(cells[COLUMN_##field]);                                      \
        int64_t value = null_when;                                                                 \
        if (GMT_LIKELY(type == SQLITE_INTEGER))                                                    \
            value = sqlite3_value_int64(cells[COLUMN_##field]);                                    \
        else if (null_when == INT64_MIN || type != SQLITE_NULL)                                    \
            return COLUMN_##field;                                                                 \
        event->field = (ctype)value;                                                               \
        if ((int64_t)event->field != value || (value < 0 && must_not_be_negative(COLUMN_##field))) \
            return COLUMN_##field;                                                                 \
    }
#include "gpumemtrace/schema/event_columns.def"
    if (event->kind == EVENT_NONE || event->kind >= EVENT_KIND_COUNT)
        return COLUMN_kind;
    if (event->memory >= MEMORY_KIND_COUNT)
        return COLUMN_memory;
    if (event->device < -1) /* -1 is NULL */
        return COLUMN_device;
    return COLUMN_COUNT;
}

/* If the recorder's table of frames was full, events refer to frames that were never stored. */
static void forget_unknown_stack(const struct trace *trace, struct event *event)
{
    if (event->stack_id >= trace->frame_limit || !trace->frames[event->stack_id].present)
        event->stack_id = 0;
}

/* --- the exit --- */

/*
 * Is this the event after which nothing counts? If the trace's meta does not name that event and no
 * recorder wrote the file, an exit event is the end. The exit of an exec or of an interpreter is
 * not: the exec may have failed, and a program may outlive its interpreter.
 */
static bool is_exit(const struct trace *trace, const struct event *event)
{
    const struct trace_integer *known = &trace->meta.exit_seq;
    if (known->known)
        return event->seq == (uint64_t)known->value;
    return event->kind == EVENT_EXIT && event->object != EXIT_BY_EXEC &&
           event->object != EXIT_BY_INTERPRETER;
}

/* Counts the events up to the first event that meets the condition. If no event does, counts all
 * events. */
#define COUNT_UP_TO(condition)                                                                     \
    "SELECT count(*) FROM event WHERE seq <= ifnull("                                              \
    "(SELECT seq FROM event WHERE " condition " ORDER BY seq LIMIT 1), 9223372036854775807)"

int event_reader_count(const struct trace *trace, uint64_t *count, struct err *err)
{
    const struct trace_integer *known = &trace->meta.exit_seq;
    sqlite3_stmt *stmt = NULL;
    if (query_prepare(trace->path, trace->db,
                      known->known ? COUNT_UP_TO("seq = ?1")
                                   : COUNT_UP_TO("kind = ?1 AND object NOT IN (?2, ?3)"),
                      &stmt, err))
        return -1;
    if (known->known)
        sqlite3_bind_int64(stmt, 1, known->value);
    else {
        sqlite3_bind_int64(stmt, 1, EVENT_EXIT);
        sqlite3_bind_int64(stmt, 2, EXIT_BY_EXEC);
        sqlite3_bind_int64(stmt, 3, EXIT_BY_INTERPRETER);
    }
    const bool is_counted = sqlite3_step(stmt) == SQLITE_ROW;
    if (is_counted)
        *count = (uint64_t)sqlite3_column_int64(stmt, 0);
    else
        query_failed(trace->path, trace->db, "event", err);
    sqlite3_finalize(stmt);
    return is_counted ? 0 : -1;
}

int event_reader_last(const struct trace *trace, enum event_kind kind, uint64_t memories,
                      uint64_t *seq, struct err *err)
{
    const struct trace_integer *known = &trace->meta.exit_seq;
    sqlite3_stmt *stmt = NULL;
    if (query_prepare(trace->path, trace->db,
                      "SELECT seq FROM event WHERE kind = ?1 AND ?2 >> memory & 1 AND seq <= ?3 "
                      "ORDER BY seq DESC LIMIT 1",
                      &stmt, err))
        return -1;
    sqlite3_bind_int64(stmt, 1, kind);
    sqlite3_bind_int64(stmt, 2, (int64_t)memories);
    sqlite3_bind_int64(stmt, 3, known->known ? (int64_t)known->value : INT64_MAX);
    const int status = sqlite3_step(stmt);
    *seq = status == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        query_failed(trace->path, trace->db, "event", err);
    sqlite3_finalize(stmt);
    return status == SQLITE_ROW || status == SQLITE_DONE ? 0 : -1;
}

/* --- the thread --- */

/* With two batches, most of the CPU cache stays free for the replay. */
enum { BATCH_EVENTS = 2048, BATCHES = 2 };

struct event_reader {
    const struct trace *trace;
    sqlite3_stmt *stmt;
    int step;                    /* last result of sqlite3_step */
    struct event *rows;          /* filled by the current step */
    struct event_batch *filling; /* batch of these rows */
    bool is_broken;              /* a row was broken */
    uint64_t last_seq;
    struct event known; /* values of columns that are not read */
    bool is_known[COLUMN_COUNT];
    uint64_t known_seq; /* last row to read */
    struct event_columns columns;
    struct progress progress;
    bool is_over; /* the exit was read */
    struct event events[BATCHES][BATCH_EVENTS];
    struct event_batch batches[BATCHES];
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t changed;
    unsigned filled, taken; /* batches so far; filled - taken <= BATCHES */
    bool has_taken;         /* batch `taken` is in use */
    bool is_stopped;        /* no more batches are taken */
    bool failed;
    struct err err; /* why, if failed */
};

/* Returns -1 if the row is broken. */
static int add_row(struct event_reader *reader, sqlite3_value **cells)
{
    struct event_batch *batch = reader->filling;
    struct event *event = &reader->rows[batch->count++];
    *event = reader->known;
    const enum column wrong = read_event(cells, reader->is_known, event);
    if (event->seq > reader->known_seq) {
        batch->count--;
        return 0;
    }
    if (wrong != COLUMN_COUNT)
        return broken_event(reader->trace, event, wrong, &reader->err);
    forget_unknown_stack(reader->trace, event);
    batch->counted += !reader->is_over;
    reader->is_over |= is_exit(reader->trace, event);
    return 0;
}

static void take_row(sqlite3_context *context, int count, sqlite3_value **cells)
{
    struct event_reader *reader = sqlite3_user_data(context);
    (void)count;
    reader->is_broken = add_row(reader, cells) != 0;
    sqlite3_result_int(context, reader->is_broken || reader->filling->count == BATCH_EVENTS);
}

static int name_row_function(struct event_reader *reader, bool is_there)
{
    return sqlite3_create_function_v2(reader->trace->db, ROW_FUNCTION, COLUMN_COUNT + 1,
                                      SQLITE_UTF8 | SQLITE_DIRECTONLY, reader,
                                      is_there ? take_row : NULL, NULL, NULL, NULL);
}

static void note_columns(struct event_columns *columns, const struct event_batch *batch)
{
    if (!batch->count)
        return;
    if (!columns->last_seq)
        columns->first = batch->events[0];
    const struct event first = columns->first;
    struct event varying = columns->varying;
    for (size_t i = 0; i < batch->count; i++) {
#define COLUMN(field, ctype, sql, null_when, text)                                                 \
    varying.field |= batch->events[i].field ^ first.field;
#include "gpumemtrace/schema/event_columns.def"
    }
    columns->varying = varying;
    columns->last_seq = batch->events[batch->count - 1].seq;
}

/* Returns -1 on failure; the reader's err says why. */
static int fill_batch(struct event_reader *reader, unsigned number)
{
    struct event_batch *batch = &reader->batches[number];
    *batch = (struct event_batch){.events = reader->events[number]};
    reader->rows = reader->events[number];
    reader->filling = batch;
    if (reader->step == SQLITE_ROW)
        reader->step = sqlite3_step(reader->stmt);
    batch->has_exit = reader->is_over;
    if (reader->is_broken)
        return -1;
    if (reader->known_seq == UINT64_MAX)
        note_columns(&reader->columns, batch);
    return reader->step == SQLITE_ROW || reader->step == SQLITE_DONE
               ? 0
               : query_failed(reader->trace->path, reader->trace->db, "event", &reader->err);
}

/* Waits until a batch is free. Returns false if the thread must stop. */
static bool wait_for_room(struct event_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    while (!reader->is_stopped && reader->filled - reader->taken == BATCHES)
        pthread_cond_wait(&reader->changed, &reader->lock);
    bool is_stopped = reader->is_stopped;
    pthread_mutex_unlock(&reader->lock);
    return !is_stopped;
}

static void *reader_main(void *self)
{
    struct event_reader *reader = self;
    bool is_last = false;
    while (!is_last && wait_for_room(reader)) {
        unsigned number = reader->filled % BATCHES;
        bool failed = fill_batch(reader, number) != 0;
        is_last = failed || !reader->batches[number].count;
        pthread_mutex_lock(&reader->lock);
        reader->failed = failed;
        reader->filled++;
        pthread_cond_signal(&reader->changed);
        pthread_mutex_unlock(&reader->lock);
    }
    return NULL;
}

static int find_last_seq(struct event_reader *reader, struct err *err)
{
    const struct trace *trace = reader->trace;
    sqlite3_stmt *stmt = NULL;
    if (query_prepare(trace->path, trace->db, "SELECT max(seq) FROM event", &stmt, err))
        return -1;
    int step = sqlite3_step(stmt);
    if (step == SQLITE_ROW)
        reader->last_seq = (uint64_t)sqlite3_column_int64(stmt, 0);
    else
        query_failed(trace->path, trace->db, "event", err);
    sqlite3_finalize(stmt);
    return step == SQLITE_ROW ? 0 : -1;
}

/* The seq is always read, because SQLite evaluates a condition without columns only once. */
static void take_known(struct event_reader *reader, const struct event_columns *known)
{
    if (!known || !known->last_seq)
        return;
#define COLUMN(field, ctype, sql, null_when, text)                                                 \
    reader->is_known[COLUMN_##field] = COLUMN_##field != COLUMN_seq && !known->varying.field;
#include "gpumemtrace/schema/event_columns.def"
    reader->known = known->first;
    reader->known_seq = known->last_seq;
}

static int select_events(struct event_reader *reader, uint64_t after_seq, struct err *err)
{
    enum { SELECT_MOST_BYTES = 1024 };
    const struct trace *trace = reader->trace;
    struct text sql;
    int status = -1;
    text_init(&sql, SELECT_MOST_BYTES);
    text_add(&sql, "SELECT 0 FROM event WHERE ");
    if (after_seq)
        text_addf(&sql, "seq > %" PRIu64 " AND ", after_seq);
    text_add(&sql, ROW_FUNCTION "(");
    for (int column = 0; column < COLUMN_COUNT; column++)
        text_addf(&sql, "%s, ", reader->is_known[column] ? "0" : column_names[column]);
    text_add(&sql, "0) ORDER BY seq");
    if (text_failed(&sql))
        err_set(err, ERR_SYSTEM, "out of memory for a statement");
    else
        status = query_prepare(trace->path, trace->db, sql.data, &reader->stmt, err);
    text_release(&sql);
    return status;
}

/* A small stack is enough for SQLite. If a limit prevents a new thread, each batch is read when it
 * is needed. */
static bool start_thread(struct event_reader *reader)
{
    enum { STACK_BYTES = 512 << 10 };
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return false;
    bool started = !pthread_attr_setstacksize(&attributes, STACK_BYTES) &&
                   !pthread_create(&reader->thread, &attributes, reader_main, reader);
    pthread_attr_destroy(&attributes);
    return started;
}

static struct event_reader *open_reader(const struct trace *trace,
                                        const struct event_columns *known, uint64_t after_seq,
                                        struct err *err)
{
    struct event_reader *reader = array_new(1, sizeof *reader, err);
    if (!reader)
        return NULL;
    reader->trace = trace;
    reader->step = SQLITE_ROW;
    reader->known_seq = UINT64_MAX;
    take_known(reader, known);
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->changed, NULL);
    if (name_row_function(reader, true)) {
        query_failed(trace->path, trace->db, "event", err);
        goto failed;
    }
    if (select_events(reader, after_seq, err) || find_last_seq(reader, err))
        goto failed;
    return reader;
failed:
    event_reader_free(reader);
    return NULL;
}

struct event_reader *event_reader_new(const struct trace *trace, const struct event_columns *known,
                                      struct err *err)
{
    struct event_reader *reader = open_reader(trace, known, 0, err);
    if (!reader)
        return NULL;
    reader->progress = progress_begin("reading the events");
    reader->has_thread = start_thread(reader);
    return reader;
}

struct event_reader *event_reader_after(const struct trace *trace, uint64_t seq, struct err *err)
{
    return open_reader(trace, NULL, seq, err);
}

void event_reader_free(struct event_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->is_stopped = true;
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    if (reader->has_thread)
        pthread_join(reader->thread, NULL);
    progress_end(&reader->progress);
    sqlite3_finalize(reader->stmt);
    name_row_function(reader, false);
    pthread_mutex_destroy(&reader->lock);
    pthread_cond_destroy(&reader->changed);
    free(reader);
}

/* Returns false on failure; the reader's err says why. */
static bool read_batch_now(struct event_reader *reader, struct event_batch *batch)
{
    bool failed = fill_batch(reader, 0) != 0;
    *batch = reader->batches[0];
    return !failed;
}

/* Frees the previous batch, and waits for the next one. The last batch is empty and stays. */
static bool take_batch(struct event_reader *reader, struct event_batch *batch)
{
    pthread_mutex_lock(&reader->lock);
    if (reader->has_taken)
        reader->taken++;
    reader->has_taken = true;
    pthread_cond_signal(&reader->changed);
    while (reader->filled == reader->taken)
        pthread_cond_wait(&reader->changed, &reader->lock);
    bool failed = reader->failed && reader->filled - reader->taken == 1;
    *batch = reader->batches[reader->taken % BATCHES];
    pthread_mutex_unlock(&reader->lock);
    return !failed;
}

static int next_batch(void *self, struct event_batch *batch, struct err *err)
{
    struct event_reader *reader = self;
    if (!(reader->has_thread ? take_batch : read_batch_now)(reader, batch)) {
        *err = reader->err;
        return -1;
    }
    if (batch->count)
        progress_show(&reader->progress, batch->events[0].seq, reader->last_seq);
    return 0;
}

struct event_source event_reader_source(struct event_reader *reader)
{
    return (struct event_source){next_batch, reader};
}

struct event_columns event_reader_columns(const struct event_reader *reader)
{
    return reader->columns;
}
