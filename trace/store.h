/* SPDX-License-Identifier: MIT */
/*
 * Writes the trace database: schema, names, definitions, events, meta rows. The recorder's writer
 * uses this code, and so does the folding of a killed process's ring.
 *
 * Only one thread at a time may use a store. No function is callable from a hook. After an error
 * *err has SQLite's own message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sqlite3.h>

#include "gpumemtrace/err.h"
#include "batch.h"

enum meta_key {
#define META(key, type, text) META_##key,
#include "gpumemtrace/schema/meta_keys.def"
    META_COUNT
};

/* Number of statements that stay prepared; store.c lists them. */
#define STORE_STATEMENTS 16

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_STATEMENTS];
    struct batch batch;               /* the rows that the virtual table ring_batch shows */
    uint64_t last_seq, committed_seq; /* highest seq in the table; the same at the last commit */
};

/* Creates the schema in the empty file at path, which the caller made with O_EXCL. */
int store_create(struct store *store, const char *path, struct err *err);
/* Opens the trace again. If the trace is open, closes it first. After an error store->db is NULL,
 * and the caller may try again. */
int store_open_again(struct store *store, const char *path, struct err *err);
/* Continues an existing trace that the caller has checked. Takes over db, and closes it on
 * error. */
int store_attach(struct store *store, sqlite3 *db, struct err *err);
/* Gives db back to the caller of store_attach; it stays open. */
void store_detach(struct store *store);
/* Leaves WAL mode, so that the file stands alone, and closes the file. */
int store_close(struct store *store, struct err *err);
/* Closes at once; the trace stays as of the last commit. */
void store_abandon(struct store *store);

int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
/* If the rollback itself fails, the database is closed and store->db is NULL; see
 * store_open_again. */
void store_rollback(struct store *store);

/* Stores a definition slot and the text after it (at most RECORD_TEXT_MAX bytes, not terminated). A
 * definition that is already stored does not change. */
int store_define(struct store *store, const struct ring_slot *slot, const char *text,
                 size_t text_bytes, struct err *err);
/* Skips events whose seq is already stored. */
int store_events(struct store *store, const struct batch_event *events, size_t count,
                 struct err *err);

int store_meta_integer(struct store *store, enum meta_key key, int64_t value, struct err *err);
int store_meta_null(struct store *store, enum meta_key key, struct err *err);
int store_meta_text(struct store *store, enum meta_key key, const char *value, struct err *err);
/* Stores a row of job_variable or allocator_setting; a value is cut at RECORD_TEXT_MAX bytes. */
int store_variable(struct store *store, const char *table, const char *name, const char *value,
                   struct err *err);
/* Returns the value of the key, or fallback if the row does not exist. */
int64_t store_meta_read(sqlite3 *db, enum meta_key key, int64_t fallback);
const char *store_meta_name(enum meta_key key);
