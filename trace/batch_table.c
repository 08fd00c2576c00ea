/* SPDX-License-Identifier: MIT */
/*
 * Shows ring slots as SQL rows. The result of a pending slot is NULL, because its call has not
 * returned. Slots are only read.
 */
#include "batch_table.h"

#include <stdbool.h>
#include <string.h>

struct batch_table {
    sqlite3_vtab base;
    const struct batch *batch;
};

struct batch_cursor {
    sqlite3_vtab_cursor base;
    const struct batch *batch;
    size_t row;
};

enum event_column {
#define COLUMN(field, ctype, sql, null_when, text) COLUMN_##field,
#include "gpumemtrace/schema/event_columns.def"
};

static int batch_connect(sqlite3 *db, void *batch, int argc, const char *const *argv,
                         sqlite3_vtab **table, char **message)
{
    (void)argc, (void)argv, (void)message;
    struct batch_table *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    made->batch = batch;
    *table = &made->base;
    return sqlite3_declare_vtab(db, "CREATE TABLE ring_batch("
#define COLUMN(field, ctype, sql, null_when, text) #field ","
#include "gpumemtrace/schema/event_columns.def"
                                    "unused HIDDEN)");
}

static int batch_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int batch_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1.0;
    return SQLITE_OK;
}

static int batch_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct batch_cursor *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    made->batch = ((const struct batch_table *)table)->batch;
    *cursor = &made->base;
    return SQLITE_OK;
}

static int batch_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int batch_filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)index, (void)text, (void)argc, (void)argv;
    ((struct batch_cursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *cursor)
{
    ((struct batch_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int batch_eof(sqlite3_vtab_cursor *base)
{
    const struct batch_cursor *cursor = (const struct batch_cursor *)base;
    return cursor->row >= cursor->batch->count;
}

static int64_t slot_result(const struct ring_slot *slot)
{
    const uint8_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state == SLOT_PENDING ? RESULT_IN_PROGRESS : slot->result;
}

static int64_t column_value(const struct batch_event *event, enum event_column column)
{
    const struct ring_slot *slot = event->slot;
    switch (column) {
    case COLUMN_seq:
        return (int64_t)slot->seq;
    case COLUMN_time_ns:
        return (int64_t)slot->time_ns;
    case COLUMN_thread_id:
        return event->thread_id;
    case COLUMN_hook_id:
        return slot->hook_id;
    case COLUMN_kind:
        return slot->kind;
    case COLUMN_memory:
        return slot->memory;
    case COLUMN_address:
        return (int64_t)slot->address;
    case COLUMN_size_bytes:
        return (int64_t)slot->size_bytes;
    case COLUMN_object:
        return (int64_t)slot->object;
    case COLUMN_stream:
        return record_is_timed(slot->kind, slot->memory) ? 0 : (int64_t)slot->stream;
    case COLUMN_result:
        return slot_result(slot);
    case COLUMN_stack_id:
        return slot->stack_id;
    case COLUMN_call_id:
        return slot->call_id;
    case COLUMN_nested:
        return slot->nested;
    case COLUMN_device:
        return slot->device;
    }
    return 0;
}

/* For each column, the value that stands for NULL, if the column has such a value. */
static const struct {
    bool nullable;
    int64_t null;
} nulls[] = {
#define NEVER                                                                                      \
    {                                                                                              \
        false, 0                                                                                   \
    }
#define WHEN(value)                                                                                \
    {                                                                                              \
        true, value                                                                                \
    }
#define COLUMN(field, ctype, sql, null_when, text) null_when,
#include "gpumemtrace/schema/event_columns.def"
#undef NEVER
#undef WHEN
};

static int batch_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct batch_cursor *cursor = (const struct batch_cursor *)base;
    if (column < 0 || column >= (int)(sizeof nulls / sizeof *nulls))
        return SQLITE_OK;
    const int64_t value =
        column_value(&cursor->batch->events[cursor->row], (enum event_column)column);
    if (nulls[column].nullable && value == nulls[column].null)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, value);
    return SQLITE_OK;
}

static int batch_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((const struct batch_cursor *)cursor)->row;
    return SQLITE_OK;
}

/* Without xCreate, the table exists in every connection that registers the module, and in no
 * file. */
static const sqlite3_module batch_module = {
    .xConnect = batch_connect,
    .xBestIndex = batch_best_index,
    .xDisconnect = batch_disconnect,
    .xDestroy = batch_disconnect,
    .xOpen = batch_open,
    .xClose = batch_close,
    .xFilter = batch_filter,
    .xNext = batch_next,
    .xEof = batch_eof,
    .xColumn = batch_column,
    .xRowid = batch_rowid,
};

int batch_table_register(sqlite3 *db, struct batch *batch)
{
    return sqlite3_create_module(db, "ring_batch", &batch_module, batch);
}
