/* SPDX-License-Identifier: MIT */
/* The table event; see load_events.h. */
#include "load_events.h"

#include <limits.h>
#include <stdlib.h>

#include "analyzer/util/array.h"
#include "query.h"

#define COLUMN(field, ctype, sql, null_when, text) #field ","
static const char select_events[] = "SELECT "
#include "gpumemtrace/schema/event_columns.def"
                                    "1 FROM event ORDER BY seq";

enum column {
#define COLUMN(field, ctype, sql, null_when, text) COLUMN_##field,
#include "gpumemtrace/schema/event_columns.def"
    COLUMN_COUNT
};

static const char *const column_names[] = {
#define COLUMN(field, ctype, sql, null_when, text) #field,
#include "gpumemtrace/schema/event_columns.def"
};

/* SQLite's integers are signed: a negative size or time is a broken one. */
static bool must_not_be_negative(enum column column)
{
    return column == COLUMN_seq || column == COLUMN_time_ns || column == COLUMN_size_bytes;
}

static int broken_event(const struct trace *trace, const struct event *event, enum column column,
                        struct err *err)
{
    err_set(err, ERR_INPUT, "%s: table event, row %llu: %s is missing or out of range", trace->path,
            (unsigned long long)event->seq, column_names[column]);
    return -1;
}

/*
 * Returns the column that is broken, or COLUMN_COUNT. Asking the statement for the value, and the
 * value for its type and number, takes half the time of asking the statement for both; it is
 * allowed because only this thread uses the connection.
 */
static enum column read_event(sqlite3_stmt *stmt, struct event *event)
{
    *event = (struct event){0};
#define NEVER INT64_MIN /* the column is never NULL; no column needs this value */
#define WHEN(value) (value)
#define COLUMN(field, ctype, sql, null_when, text)                                                 \
    {                                                                                              \
        sqlite3_value *cell = sqlite3_column_value(stmt, COLUMN_##field);                          \
        int type = sqlite3_value_type(cell);                                                       \
        int64_t value = null_when;                                                                 \
        if (GMT_LIKELY(type == SQLITE_INTEGER))                                                    \
            value = sqlite3_value_int64(cell);                                                     \
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
    return COLUMN_COUNT;
}

/* Where the table of frames was full, events refer to frames that were never stored. */
static void forget_unknown_stack(const struct trace *trace, struct event *event)
{
    if (event->stack_id >= trace->frame_limit || !trace->frames[event->stack_id].present)
        event->stack_id = 0;
}

int load_events(struct trace *trace, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    int status = -1, step;
    if (query_prepare(trace->path, db, select_events, &stmt, err))
        return -1;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct event *grown =
            array_grow(trace->events, &capacity, trace->event_count, sizeof *grown, err);
        if (!grown)
            goto out;
        trace->events = grown;
        enum column wrong = read_event(stmt, &grown[trace->event_count]);
        if (wrong != COLUMN_COUNT) {
            broken_event(trace, &grown[trace->event_count], wrong, err);
            goto out;
        }
        forget_unknown_stack(trace, &grown[trace->event_count]);
        trace->event_count++;
    }
    status = step == SQLITE_DONE ? 0 : query_failed(trace->path, db, "event", err);
out:
    sqlite3_finalize(stmt);
    return status;
}
