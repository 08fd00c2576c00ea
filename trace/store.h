/* SPDX-License-Identifier: MIT */
/*
 * The trace database, written: schema, names, definitions, events, facts. Used by the recorder's
 * writer and by whoever folds the rings of a killed process. It must not know rings or threads.
 *
 * One thread at a time. Not callable from a hook. Errors are SQLite's text in *err.
 */
#ifndef GPUMEMTRACE_TRACE_STORE_H
#define GPUMEMTRACE_TRACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sqlite3.h>

#include "gpumemtrace/err.h"
#include "record.h"

enum meta_key {
#define META(key, type, text) META_##key,
#include "gpumemtrace/schema/meta_keys.def"
    META_COUNT
};

/* Statements that stay prepared, one for each kind of definition (store.c's list). */
#define STORE_STATEMENTS 16

/* One event of a batch; the slot stays in its ring until the batch is committed. */
struct store_event {
    const struct ring_slot *slot;
    uint32_t thread_id;
};

/* What the virtual table ring_batch shows at the moment. */
struct store_batch {
    const struct store_event *events;
    size_t count;
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_STATEMENTS];
    struct store_batch batch;
};

/* Makes the schema in the empty file at path (the caller has made it with O_EXCL). */
int store_create(struct store *store, const char *path, struct err *err);
/* Closes what is open, if anything is, and goes on in the same trace. After an error store->db is
 * NULL, and this may be tried again. */
int store_open_again(struct store *store, const char *path, struct err *err);
/* Continues in an existing trace that the caller has checked; takes over db, also on error. */
int store_attach(struct store *store, sqlite3 *db, struct err *err);
/* Lets go of the database that store_attach took over, open. */
void store_detach(struct store *store);
/* Takes the trace out of WAL mode, so that the file stands alone, and closes it. */
int store_close(struct store *store, struct err *err);
/* Closes without a last word: the trace stays as the last commit left it. */
void store_abandon(struct store *store);

int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
/* Should even that fail, the database is closed: store->db is NULL, see store_open_again. */
void store_rollback(struct store *store);

/* A definition slot and the text behind it (RECORD_TEXT_MAX at most, not terminated). One that is
 * already there is left as it is. */
int store_define(struct store *store, const struct ring_slot *slot, const char *text,
                 size_t text_bytes, struct err *err);
/* Events whose seq is already there are skipped. */
int store_events(struct store *store, const struct store_event *events, size_t count,
                 struct err *err);

int store_meta_integer(struct store *store, enum meta_key key, int64_t value, struct err *err);
int store_meta_text(struct store *store, enum meta_key key, const char *value, struct err *err);
/* fallback when there is no such row. */
int64_t store_meta_read(sqlite3 *db, enum meta_key key, int64_t fallback);
const char *store_meta_name(enum meta_key key);

#endif
