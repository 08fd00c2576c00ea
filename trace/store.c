/* SPDX-License-Identifier: MIT */
/*
 * See store.h. Each kind of definition has a prepared statement. Events are stored by one INSERT …
 * SELECT over the virtual table. Nearly all events continue the table's last seq, so SQLite assigns
 * their seq and need not search for the position of each.
 */
#include "store.h"

#include <stdio.h>
#include <string.h>

#include "batch_table.h"
#include "gpumemtrace/version.h"
#include "hook_ids.h"
#include "schema.h"

enum statement {
    INSERT_STRING,
    INSERT_FRAME,
    INSERT_LOCATION,
    INSERT_MODULE,
    INSERT_THREAD,
    INSERT_DEVICE,
    SET_CONTEXT,
    COUNT_COVERAGE,
    APPEND_EVENTS,
    INSERT_EVENTS,
    INSERT_DURATION,
    SET_META,
    INSERT_WALK,
    INSERT_HOLDER,
    STATEMENT_COUNT
};

/* The columns of the table event after seq, the first. */
#define COLUMN(field, ctype, sql, null_when, text) "," #field
#define COLUMNS_BEHIND_SEQ (event_columns + sizeof ",seq")
static const char event_columns[] =
#include "gpumemtrace/schema/event_columns.def"
    ;

_Static_assert(STATEMENT_COUNT <= STORE_STATEMENTS, "store.h gives room for every statement");

static const char *const statement_sql[STATEMENT_COUNT] = {
    [INSERT_STRING] = "INSERT OR IGNORE INTO string VALUES(?1,?2)",
    [INSERT_FRAME] = "INSERT OR IGNORE INTO frame VALUES(?1,nullif(?2,0),?3,?4)",
    [INSERT_LOCATION] = "INSERT OR IGNORE INTO location VALUES(?1,?2,?3,?4)",
    [INSERT_MODULE] = "INSERT OR IGNORE INTO module VALUES(?1,?2,nullif(?3,''),?4,?5,?6)",
    [INSERT_THREAD] = "INSERT INTO thread VALUES(?1,?2,?3) ON CONFLICT(thread_id) "
                      "DO UPDATE SET name=excluded.name WHERE name=''",
    [INSERT_DEVICE] = "INSERT OR IGNORE INTO device "
                      "VALUES(?1,nullif(?2,''),nullif(?3,''),nullif(?4,0),NULL)",
    [SET_CONTEXT] = "UPDATE device SET context_bytes=?2 WHERE device=?1 AND context_bytes IS NULL",
    [COUNT_COVERAGE] = "INSERT INTO coverage VALUES(?1,?2) "
                       "ON CONFLICT(name) DO UPDATE SET count=count+excluded.count",
    [INSERT_EVENTS] = "INSERT INTO event SELECT * FROM ring_batch WHERE true "
                      "ON CONFLICT(seq) DO NOTHING",
    [INSERT_DURATION] = "INSERT OR IGNORE INTO call_duration VALUES(?1,?2)",
    [SET_META] = "INSERT OR REPLACE INTO meta VALUES(?1,?2)",
    [INSERT_WALK] = "INSERT OR IGNORE INTO walk VALUES(?1,?2,?5,?3,CASE WHEN ?4 THEN ?6 END)",
    /* The rowid keeps a row from being stored twice. */
    [INSERT_HOLDER] = "INSERT OR IGNORE INTO holder(rowid,walk_id,address,size_bytes,kind,chain_id,"
                      "item,items_count,location_id) VALUES(?1,?1>>32,?2,?3,?8,?4,"
                      "CASE WHEN ?7 THEN ?9 END,nullif(?5,-1),nullif(?6,0))",
};

/* The schema is written without WAL, so that the file itself shows its kind before any event
 * arrives. No write waits for the disk, so a crash of the host may lose data, but a killed process
 * loses none. */
static const char creating_pragmas[] = "PRAGMA synchronous=OFF;PRAGMA journal_mode=MEMORY";
static const char recording_pragmas[] = "PRAGMA journal_mode=WAL;PRAGMA temp_store=MEMORY;"
                                        "PRAGMA wal_autocheckpoint=4000;PRAGMA busy_timeout=2000";

static int sqlite_err(sqlite3 *db, struct err *err)
{
    const int reason = db && sqlite3_errcode(db) == SQLITE_IOERR ? sqlite3_system_errno(db) : 0;
    return err_set(err, ERR_SYSTEM, "%s%s%s", db ? sqlite3_errmsg(db) : "out of memory",
                   reason ? ": " : "", reason ? strerror(reason) : "");
}

static int execute(sqlite3 *db, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_err(db, err);
}

/* Runs a statement with bound values and resets it. */
static int run(struct store *store, enum statement statement, struct err *err)
{
    sqlite3_stmt *prepared = store->statements[statement];
    const int status = sqlite3_step(prepared);
    const int result = status == SQLITE_DONE ? 0 : sqlite_err(store->db, err);
    sqlite3_reset(prepared);
    return result;
}

/* Reads the highest seq of the table; 0 if the table is empty. */
static int read_last_seq(struct store *store, struct err *err)
{
    sqlite3_stmt *select = NULL;
    int result = -1;
    if (sqlite3_prepare_v2(store->db, "SELECT max(seq) FROM event", -1, &select, NULL) ==
            SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW) {
        store->last_seq = store->committed_seq = (uint64_t)sqlite3_column_int64(select, 0);
        result = 0;
    }
    if (result)
        sqlite_err(store->db, err);
    sqlite3_finalize(select);
    return result;
}

static int prepare(struct store *store, struct err *err)
{
    char append_sql[512];
    snprintf(append_sql, sizeof append_sql, "INSERT INTO event(%s) SELECT %s FROM ring_batch",
             COLUMNS_BEHIND_SEQ, COLUMNS_BEHIND_SEQ);
    if (batch_table_register(store->db, &store->batch) != SQLITE_OK)
        return sqlite_err(store->db, err);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const char *sql = i == APPEND_EVENTS ? append_sql : statement_sql[i];
        if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i],
                               NULL) != SQLITE_OK)
            return sqlite_err(store->db, err);
    }
    return read_last_seq(store, err);
}

static int store_hooks(struct store *store, struct err *err)
{
    sqlite3_stmt *insert = NULL;
    int result = -1;
    if (sqlite3_prepare_v2(store->db, "INSERT INTO hook VALUES(?1,?2,?3)", -1, &insert, NULL))
        goto out;
    for (int i = 0; i < HOOK_COUNT; i++) {
        sqlite3_bind_int(insert, 1, i);
        sqlite3_bind_text(insert, 2, hook_name((enum hook)i), -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, hook_api((enum hook)i), -1, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
            goto out;
    }
    result = 0;
out:
    if (result)
        sqlite_err(store->db, err);
    sqlite3_finalize(insert);
    return result;
}

int store_create(struct store *store, const char *path, struct err *err)
{
    char script[SCHEMA_SQL_BYTES];
    memset(store, 0, sizeof *store);
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        sqlite_err(store->db, err);
    else if (!schema_sql(script, sizeof script, err) &&
             !execute(store->db, creating_pragmas, err) && !store_begin(store, err) &&
             !execute(store->db, script, err) && !store_hooks(store, err) &&
             !store_commit(store, err) && !execute(store->db, recording_pragmas, err) &&
             !prepare(store, err))
        return 0;
    store_abandon(store);
    return -1;
}

int store_open_again(struct store *store, const char *path, struct err *err)
{
    store_abandon(store);
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        sqlite_err(store->db, err);
    else if (!execute(store->db, recording_pragmas, err) && !prepare(store, err))
        return 0;
    store_abandon(store);
    return -1;
}

int store_attach(struct store *store, sqlite3 *db, struct err *err)
{
    memset(store, 0, sizeof *store);
    store->db = db;
    if (!prepare(store, err))
        return 0;
    store_abandon(store);
    return -1;
}

void store_detach(struct store *store)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    memset(store, 0, sizeof *store);
}

void store_abandon(struct store *store)
{
    sqlite3 *db = store->db;
    store_detach(store);
    sqlite3_close(db);
}

int store_close(struct store *store, struct err *err)
{
    sqlite3 *db = store->db;
    store_detach(store);
    sqlite3_busy_timeout(db, 1000);
    /* If a reader has the file open, the -wal stays. The trace is valid with or without it. */
    const int status = sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    const int result = status == SQLITE_OK || status == SQLITE_BUSY ? 0 : sqlite_err(db, err);
    sqlite3_close(db);
    return result;
}

int store_begin(struct store *store, struct err *err)
{
    return execute(store->db, "BEGIN", err);
}

int store_commit(struct store *store, struct err *err)
{
    if (execute(store->db, "COMMIT", err))
        return -1;
    store->committed_seq = store->last_seq;
    return 0;
}

void store_rollback(struct store *store)
{
    execute(store->db, "ROLLBACK", NULL);
    store->last_seq = store->committed_seq;
    /* If the transaction stays open, every later BEGIN would fail, so close the database. */
    if (store->db && !sqlite3_get_autocommit(store->db))
        store_abandon(store);
}

/* Binds the two texts of "first \0 second". The texts are bound without a copy, because they live
 * until the statement has run, and a copy could fail. */
static void bind_pair(sqlite3_stmt *statement, int first, const char *text, size_t text_bytes)
{
    const char *end = memchr(text, '\0', text_bytes);
    const size_t first_bytes = end ? (size_t)(end - text) : text_bytes;
    sqlite3_bind_text(statement, first, text, (int)first_bytes, SQLITE_STATIC);
    if (end)
        sqlite3_bind_text(statement, first + 1, end + 1, (int)(text_bytes - first_bytes - 1),
                          SQLITE_STATIC);
    else
        sqlite3_bind_text(statement, first + 1, "", 0, SQLITE_STATIC);
}

static void bind_integers(sqlite3_stmt *statement, int first, const uint64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(statement, first + i, (sqlite3_int64)values[i]);
}

#define BIND(statement, first, ...)                                                                \
    bind_integers(store->statements[statement], first, (const uint64_t[]){__VA_ARGS__},            \
                  (int)(sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)))

/* --- variables --- */

static int run_variable(struct store *store, const char *sql, const char *name, const char *value,
                        size_t value_bytes, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = -1;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, value, (int)value_bytes, SQLITE_STATIC);
        result = sqlite3_step(statement) == SQLITE_DONE ? 0 : -1;
    }
    if (result)
        sqlite_err(store->db, err);
    sqlite3_finalize(statement);
    return result;
}

/* Each name has one row, with the last value. The function needs two statements, because these
 * tables have no key. */
static int set_variable(struct store *store, const char *table, const char *name, const char *value,
                        size_t value_bytes, struct err *err)
{
    char sql[96];
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE name=?1 AND ?2 NOT NULL", table);
    if (run_variable(store, sql, name, value, value_bytes, err))
        return -1;
    snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?1,?2)", table);
    return run_variable(store, sql, name, value, value_bytes, err);
}

int store_variable(struct store *store, const char *table, const char *name, const char *value,
                   struct err *err)
{
    return set_variable(store, table, name, value, strnlen(value, RECORD_TEXT_MAX), err);
}

static int define_variable(struct store *store, const struct ring_slot *slot, const char *text,
                           size_t text_bytes, struct err *err)
{
    static const char *const tables[VARIABLE_COUNT] = {
        [VARIABLE_framework] = "framework", [VARIABLE_allocator_setting] = "allocator_setting"};
    const char *end = memchr(text, '\0', text_bytes);
    if (slot->memory >= VARIABLE_COUNT || !end)
        return 0;
    return set_variable(store, tables[slot->memory], text, end + 1,
                        text_bytes - (size_t)(end + 1 - text), err);
}

int store_define(struct store *store, const struct ring_slot *slot, const char *text,
                 size_t text_bytes, struct err *err)
{
    sqlite3_stmt *const *const statements = store->statements;
    const int length = (int)text_bytes;
    switch ((enum slot_type)slot->type) {
    case SLOT_STRING:
        BIND(INSERT_STRING, 1, slot->seq);
        sqlite3_bind_text(statements[INSERT_STRING], 2, text, length, SQLITE_STATIC);
        return run(store, INSERT_STRING, err);
    case SLOT_FRAME:
        BIND(INSERT_FRAME, 1, slot->seq, slot->stack_id, slot->memory, slot->address);
        return run(store, INSERT_FRAME, err);
    case SLOT_LOCATION:
        BIND(INSERT_LOCATION, 1, slot->seq, slot->address, slot->size_bytes, slot->object);
        return run(store, INSERT_LOCATION, err);
    case SLOT_MODULE:
        BIND(INSERT_MODULE, 1, slot->seq);
        bind_pair(statements[INSERT_MODULE], 2, text, text_bytes);
        BIND(INSERT_MODULE, 4, slot->address, slot->object, slot->stream);
        return run(store, INSERT_MODULE, err);
    case SLOT_THREAD:
        BIND(INSERT_THREAD, 1, slot->seq, slot->address);
        sqlite3_bind_text(statements[INSERT_THREAD], 3, text, length, SQLITE_STATIC);
        return run(store, INSERT_THREAD, err);
    case SLOT_DEVICE:
        BIND(INSERT_DEVICE, 1, slot->seq);
        bind_pair(statements[INSERT_DEVICE], 2, text, text_bytes);
        BIND(INSERT_DEVICE, 4, slot->size_bytes);
        return run(store, INSERT_DEVICE, err);
    case SLOT_CONTEXT:
        BIND(SET_CONTEXT, 1, slot->seq, slot->size_bytes);
        return run(store, SET_CONTEXT, err);
    case SLOT_COVERAGE:
        sqlite3_bind_text(statements[COUNT_COVERAGE], 1, text, length, SQLITE_STATIC);
        BIND(COUNT_COVERAGE, 2, slot->size_bytes);
        return run(store, COUNT_COVERAGE, err);
    case SLOT_VARIABLE:
        return define_variable(store, slot, text, text_bytes, err);
    case SLOT_WALK:
        BIND(INSERT_WALK, 1, slot->seq, slot->address, slot->size_bytes, slot->memory);
        bind_pair(statements[INSERT_WALK], 5, text, text_bytes);
        return run(store, INSERT_WALK, err);
    case SLOT_HOLDER:
        BIND(INSERT_HOLDER, 1, slot->seq, slot->address, slot->size_bytes, slot->object,
             slot->stream, slot->stack_id, slot->memory);
        bind_pair(statements[INSERT_HOLDER], 8, text, text_bytes);
        return run(store, INSERT_HOLDER, err);
    case SLOT_EVENT:
    case SLOT_OWNER:
    case SLOT_END:
        break;
    }
    return 0;
}

/* Counts the events that follow the last row without a gap in seq. SQLite would assign the same seq
 * to them itself. */
static size_t count_following(const struct store *store, const struct batch_event *events,
                              size_t count)
{
    size_t following = 0;
    if (store->last_seq >= INT64_MAX - count)
        return 0;
    while (following < count && events[following].slot->seq == store->last_seq + 1 + following)
        following++;
    return following;
}

static int run_on_events(struct store *store, enum statement statement,
                         const struct batch_event *events, size_t count, struct err *err)
{
    store->batch = (struct batch){events, count};
    const int result = count ? run(store, statement, err) : 0;
    store->batch = (struct batch){NULL, 0};
    return result;
}

/* Only calls that have returned have a duration. */
static bool has_duration(const struct ring_slot *slot)
{
    return record_is_timed(slot->kind, slot->memory) && slot->stream &&
           atomic_load_explicit(&slot->state, memory_order_acquire) == SLOT_DONE;
}

static int store_durations(struct store *store, const struct batch_event *events, size_t count,
                           struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct ring_slot *slot = events[i].slot;
        if (!has_duration(slot))
            continue;
        BIND(INSERT_DURATION, 1, slot->seq, slot->stream < INT64_MAX ? slot->stream : INT64_MAX);
        if (run(store, INSERT_DURATION, err))
            return -1;
    }
    return 0;
}

int store_events(struct store *store, const struct batch_event *events, size_t count,
                 struct err *err)
{
    const size_t appended = count_following(store, events, count);
    if (run_on_events(store, APPEND_EVENTS, events, appended, err) ||
        run_on_events(store, INSERT_EVENTS, events + appended, count - appended, err) ||
        store_durations(store, events, count, err))
        return -1;
    if (count && events[count - 1].slot->seq > store->last_seq)
        store->last_seq = events[count - 1].slot->seq;
    return 0;
}

/* --- meta --- */

const char *store_meta_name(enum meta_key key)
{
    static const char *const names[META_COUNT] = {
#define META(name, type, text) #name,
#include "gpumemtrace/schema/meta_keys.def"
    };
    return names[key];
}

int store_meta_integer(struct store *store, enum meta_key key, int64_t value, struct err *err)
{
    sqlite3_bind_text(store->statements[SET_META], 1, store_meta_name(key), -1, SQLITE_STATIC);
    sqlite3_bind_int64(store->statements[SET_META], 2, value);
    return run(store, SET_META, err);
}

int store_meta_text(struct store *store, enum meta_key key, const char *value, struct err *err)
{
    sqlite3_bind_text(store->statements[SET_META], 1, store_meta_name(key), -1, SQLITE_STATIC);
    sqlite3_bind_text(store->statements[SET_META], 2, value, -1, SQLITE_STATIC);
    return run(store, SET_META, err);
}

int store_meta_null(struct store *store, enum meta_key key, struct err *err)
{
    sqlite3_bind_text(store->statements[SET_META], 1, store_meta_name(key), -1, SQLITE_STATIC);
    sqlite3_bind_null(store->statements[SET_META], 2);
    return run(store, SET_META, err);
}

int64_t store_meta_read(sqlite3 *db, enum meta_key key, int64_t fallback)
{
    sqlite3_stmt *select = NULL;
    int64_t value = fallback;
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key=?1", -1, &select, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_text(select, 1, store_meta_name(key), -1, SQLITE_STATIC);
        if (sqlite3_step(select) == SQLITE_ROW)
            value = sqlite3_column_int64(select, 0);
    }
    sqlite3_finalize(select);
    return value;
}
