/* SPDX-License-Identifier: MIT */
/*
 * Reads an SQLite export of Nsight Systems. The program was profiled with --cuda-memory-usage=true:
 *
 *     CUDA_GPU_MEMORY_USAGE_EVENTS   each allocation and free: start, globalPid, deviceId, address,
 *     │                              bytes, memKind, …
 *     └ correlationId ─► CUPTI_ACTIVITY_KIND_RUNTIME   the call: globalTid, nameId, callchainId
 *                        └ callchainId ─► CUDA_CALLCHAINS (id, stackDepth, symbol) ─► StringIds
 *
 * Tables and columns differ between releases. Only the first table is required. If another table or
 * a column is missing, its facts stay unknown.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"
#include "draft.h"
#include "gpumemtrace/limits.h"
#include "live_blocks.h"
#include "source.h"
#include "trace/open_database.h"
#include "trace/trace_file.h"

#define EVENTS "CUDA_GPU_MEMORY_USAGE_EVENTS"
#define RUNTIME "CUPTI_ACTIVITY_KIND_RUNTIME"
#define CHAINS "CUDA_CALLCHAINS"

/* Process and thread ids are packed into globalPid and globalTid. */
#define PID_OF(global) ((global) / 0x1000000 % 0x1000000)
#define TID_OF(global) ((global) % 0x1000000)

/* Values of memKind and memoryOperationType, as in their ENUM_ tables. */
enum { KIND_PINNED = 1, KIND_DEVICE = 2, KIND_ARRAY = 3, KIND_MANAGED = 4 };
enum { OPERATION_ALLOCATE, OPERATION_FREE };

struct row {
    struct event event; /* thread_id 0: not yet known */
    uint64_t correlation_id, chain_id, name_id;
};

struct nsys {
    const struct import_source *source;
    struct draft *draft;
    sqlite3 *db;
    sqlite3_stmt *find_string;
    struct row *rows;
    size_t count, capacity;
    struct pair_map by_correlation, threads, hooks, texts, stacks;
    struct live_blocks live;
    uint64_t left_out_count, unknown_count;
    int64_t process; /* globalPid; -1: none yet */
    uint16_t no_hook;
    bool is_broken;           /* a read failed, so that the trace would hold less than the file */
    const char *wrong_column; /* column of the row with a wrong type; NULL: none */
    bool devices[LIMIT_devices];
    struct err *err;
};

static int failed(const struct nsys *nsys, const char *table)
{
    return err_set(nsys->err, sqlite3_errcode(nsys->db) == SQLITE_NOMEM ? ERR_SYSTEM : ERR_INPUT,
                   "%s: cannot read table %s: %s", nsys->source->path, table,
                   sqlite3_errmsg(nsys->db));
}

static int broken(const struct nsys *nsys, const char *table, const char *what)
{
    return err_set(nsys->err, ERR_INPUT, "%s: table %s: %s", nsys->source->path, table, what);
}

/* Returns whether the column exists. Any error other than a missing column sets is_broken, because
 * such an error does not show that the release lacks the column. */
static bool has_column(struct nsys *nsys, const char *table, const char *column)
{
    const int status = sqlite3_table_column_metadata(nsys->db, "main", table, column, NULL, NULL,
                                                     NULL, NULL, NULL);
    nsys->is_broken |= status != SQLITE_OK && status != SQLITE_ERROR;
    return status == SQLITE_OK;
}

/* Returns a text of the row; NULL if it has none. SQLite also returns NULL when memory is
 * exhausted; in that case the function sets is_broken. */
static const char *text_of(struct nsys *nsys, sqlite3_stmt *row, int column)
{
    const bool is_there = sqlite3_column_type(row, column) != SQLITE_NULL;
    const char *text = (const char *)sqlite3_column_text(row, column);
    nsys->is_broken |= is_there && !text;
    return text;
}

/* Returns a number of the row. Checks the type first, because SQLite would convert any
 * text to a number. */
static int64_t needed_number(struct nsys *nsys, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER)
        nsys->wrong_column = sqlite3_column_name(row, column);
    return sqlite3_column_int64(row, column);
}

/* Returns 0 if the value is NULL. */
static int64_t number_of(struct nsys *nsys, sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? 0 : needed_number(nsys, row, column);
}

/* Refuses computed columns, because reading them would run expressions of the file. The columns of
 * table_xinfo: cid, name, type, notnull, default, key, hidden. */
static int check_table(const struct nsys *nsys, const char *table)
{
    char pragma[96];
    sqlite3_stmt *columns = NULL;
    int step = SQLITE_ERROR;
    bool is_computed = false;
    snprintf(pragma, sizeof pragma, "PRAGMA main.table_xinfo(%s)", table);
    if (sqlite3_prepare_v2(nsys->db, pragma, -1, &columns, NULL) == SQLITE_OK)
        while (!is_computed && (step = sqlite3_step(columns)) == SQLITE_ROW)
            is_computed = sqlite3_column_int(columns, 6) != 0;
    sqlite3_finalize(columns);
    if (is_computed)
        err_set(nsys->err, ERR_INPUT,
                "%s is not an export of Nsight Systems: %s has a computed column",
                nsys->source->path, table);
    else if (step != SQLITE_DONE)
        failed(nsys, table);
    return step == SQLITE_DONE ? 0 : -1;
}

static int check_tables(struct nsys *nsys)
{
    static const char *const tables[] = {EVENTS,
                                         RUNTIME,
                                         CHAINS,
                                         "StringIds",
                                         "TARGET_INFO_GPU",
                                         "TARGET_INFO_CUDA_DEVICE",
                                         "TARGET_INFO_SESSION_START_TIME"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (check_table(nsys, tables[i]))
            return -1;
    if (has_column(nsys, EVENTS, "memoryOperationType"))
        return 0;
    return err_set(nsys->err, ERR_INPUT,
                   "%s has no table " EVENTS
                   " with a column memoryOperationType: profile with 'nsys "
                   "profile --cuda-memory-usage=true', and export with 'nsys export --type=sqlite'",
                   nsys->source->path);
}

/* --- texts --- */

/* Looks up the id of a text in the trace; *id 0: the file does not have it. */
static int find_text(struct nsys *nsys, uint64_t string_id, uint32_t *id)
{
    sqlite3_stmt *find = nsys->find_string;
    int status = 0;
    *id = pair_map_get(&nsys->texts, 0, string_id);
    if (*id != PAIR_MAP_NONE)
        return 0;
    *id = 0;
    if (!find)
        return 0;
    sqlite3_bind_int64(find, 1, (sqlite3_int64)string_id);
    const int step = sqlite3_step(find);
    if (step == SQLITE_ROW) {
        const char *text = text_of(nsys, find, 0);
        const int bytes = sqlite3_column_bytes(find, 0);

        *id = text ? draft_text(nsys->draft, text, (size_t)bytes, nsys->err) : 0;
        status = text && !*id ? -1 : 0;
    } else if (step != SQLITE_DONE) {
        status = failed(nsys, "StringIds");
    }
    sqlite3_reset(find);
    return status || pair_map_put(&nsys->texts, 0, string_id, *id, nsys->err) ? -1 : 0;
}

/* --- events --- */

static enum memory_kind memory_of(struct nsys *nsys, sqlite3_stmt *row)
{
    switch (needed_number(nsys, row, 5)) {
    case KIND_PINNED:
        return MEMORY_PINNED;
    case KIND_DEVICE: /* column 9 is set for a pool's (stream-ordered) memory */
        return number_of(nsys, row, 9) ? MEMORY_ASYNC : MEMORY_LINEAR;
    case KIND_ARRAY:
        return MEMORY_ARRAY;
    case KIND_MANAGED:
        return MEMORY_MANAGED;
    default:
        return MEMORY_NONE;
    }
}

static int check_process(struct nsys *nsys, int64_t process)
{
    if (nsys->source->process && (int64_t)nsys->source->process != PID_OF(process))
        return 1;
    if (nsys->process >= 0 && nsys->process != process)
        return err_set(nsys->err, ERR_INPUT,
                       "%s holds several processes, %" PRId64 " and %" PRId64
                       " among them: --process=PID "
                       "takes one",
                       nsys->source->path, PID_OF(nsys->process), PID_OF(process));
    nsys->process = process;
    return 0;
}

static int read_event(struct nsys *nsys, sqlite3_stmt *row)
{
    const int64_t start = needed_number(nsys, row, 0), process = needed_number(nsys, row, 1);
    const int64_t device = needed_number(nsys, row, 2), address = needed_number(nsys, row, 3);
    const int64_t bytes = needed_number(nsys, row, 4), operation = needed_number(nsys, row, 6);
    const enum memory_kind memory = memory_of(nsys, row);
    int others;
    if (nsys->wrong_column)
        return 0;
    if ((others = check_process(nsys, process)))
        return others < 0 ? -1 : 0;
    if (memory == MEMORY_NONE || operation < OPERATION_ALLOCATE || operation > OPERATION_FREE) {
        nsys->left_out_count++;
        return 0;
    }
    if (start < 0 || bytes < 0 || (uint64_t)bytes > LIVE_BYTES_MOST || device < 0 ||
        device >= LIMIT_devices)
        return broken(nsys, EVENTS, "a number is out of range");
    if (ARRAY_GROW(nsys->rows, nsys->capacity, nsys->count, nsys->err))
        return -1;
    nsys->rows[nsys->count] = (struct row){
        .event = {.kind = operation == OPERATION_FREE ? EVENT_FREE : EVENT_ALLOC,
                  .memory = (uint8_t)memory,
                  .time_ns = (uint64_t)start,
                  .address = (uint64_t)address,
                  .size_bytes = (uint64_t)bytes,
                  .object = memory == MEMORY_ASYNC ? (uint64_t)number_of(nsys, row, 9) : 0,
                  .stream = sqlite3_column_type(row, 7) == SQLITE_NULL
                                ? STREAM_UNKNOWN
                                : (uint64_t)number_of(nsys, row, 7),
                  .device = (int8_t)device},
        .correlation_id = (uint64_t)number_of(nsys, row, 8)};
    nsys->devices[device] = true;
    const uint32_t number = (uint32_t)nsys->count++;
    return pair_map_put(&nsys->by_correlation, 0, nsys->rows[number].correlation_id, number,
                        nsys->err);
}

/* Call this after reading a row: fails if a column had the wrong type. */
static int check_row(struct nsys *nsys, const char *table)
{
    char what[96];
    if (!nsys->wrong_column)
        return 0;
    snprintf(what, sizeof what, "column %.40s has a value of the wrong type", nsys->wrong_column);
    return broken(nsys, table, what);
}

/* Runs a query and calls the function on each of its rows. */
static int each_row(struct nsys *nsys, const char *table, const char *sql,
                    int (*function)(struct nsys *nsys, sqlite3_stmt *row))
{
    sqlite3_stmt *rows = NULL;
    int status = 0, step = SQLITE_DONE;
    if (sqlite3_prepare_v2(nsys->db, sql, -1, &rows, NULL) != SQLITE_OK)
        return failed(nsys, table);
    while (!status && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        status = function(nsys, rows);
        if (!status)
            status = check_row(nsys, table);
    }
    if (!status && step != SQLITE_DONE)
        status = failed(nsys, table);
    sqlite3_finalize(rows);
    return status;
}

static int read_events(struct nsys *nsys)
{
    char sql[512];
    snprintf(
        sql, sizeof sql,
        "SELECT start, globalPid, deviceId, address, bytes, memKind, memoryOperationType, %s, %s, "
        "%s FROM " EVENTS " ORDER BY start, rowid",
        has_column(nsys, EVENTS, "streamId") ? "streamId" : "NULL",
        has_column(nsys, EVENTS, "correlationId") ? "correlationId" : "0",
        has_column(nsys, EVENTS, "localMemoryPoolAddress") ? "localMemoryPoolAddress" : "0");
    return each_row(nsys, EVENTS, sql, read_event);
}

/* --- the calls of events --- */

static int find_thread(struct nsys *nsys, uint64_t tid, uint32_t *id)
{
    *id = pair_map_get(&nsys->threads, 0, tid);
    if (*id != PAIR_MAP_NONE)
        return 0;
    *id = (uint32_t)nsys->threads.count + 1;
    return draft_thread(nsys->draft, *id, tid, "", nsys->err) ||
                   pair_map_put(&nsys->threads, 0, tid, *id, nsys->err)
               ? -1
               : 0;
}

static int read_call(struct nsys *nsys, sqlite3_stmt *row)
{
    const uint64_t correlation_id = (uint64_t)number_of(nsys, row, 0);
    const int64_t thread = number_of(nsys, row, 1);
    const uint32_t number = pair_map_get(&nsys->by_correlation, 0, correlation_id);
    if (number == PAIR_MAP_NONE || thread < 0 || PID_OF(thread) != PID_OF(nsys->process))
        return 0;
    struct row *of = &nsys->rows[number];
    of->name_id = (uint64_t)number_of(nsys, row, 2);
    of->chain_id = (uint64_t)number_of(nsys, row, 3);
    return find_thread(nsys, (uint64_t)TID_OF(thread), &of->event.thread_id) ||
                   (of->chain_id && pair_map_put(&nsys->stacks, 0, of->chain_id, 0, nsys->err))
               ? -1
               : 0;
}

static int read_calls(struct nsys *nsys)
{
    char sql[256];
    if (!has_column(nsys, RUNTIME, "correlationId"))
        return 0;
    snprintf(sql, sizeof sql, "SELECT correlationId, globalTid, nameId, %s FROM " RUNTIME,
             has_column(nsys, RUNTIME, "callchainId") ? "callchainId" : "0");
    return each_row(nsys, RUNTIME, sql, read_call);
}

/* Adds one frame. The rows of a call chain come from the outermost frame inwards. */
static int read_frame(struct nsys *nsys, sqlite3_stmt *row)
{
    const uint64_t chain_id = (uint64_t)number_of(nsys, row, 0);
    const uint32_t parent = pair_map_get(&nsys->stacks, 0, chain_id);
    const int64_t depth = number_of(nsys, row, 2);
    struct draft_place place = {0};
    if (parent == PAIR_MAP_NONE || depth < 0 || depth >= LIMIT_stack_frames)
        return 0;
    if (find_text(nsys, (uint64_t)number_of(nsys, row, 1), &place.function_id))
        return -1;
    if (!place.function_id && !(place.function_id = draft_text(nsys->draft, "??", 2, nsys->err)))
        return -1;
    const uint32_t frame = draft_native_frame(nsys->draft, parent, &place, nsys->err);
    return !frame || pair_map_put(&nsys->stacks, 0, chain_id, frame, nsys->err) ? -1 : 0;
}

static int read_chains(struct nsys *nsys)
{
    return nsys->stacks.count && has_column(nsys, CHAINS, "stackDepth")
               ? each_row(nsys, CHAINS,
                          "SELECT id, symbol, stackDepth FROM " CHAINS
                          " ORDER BY id, stackDepth DESC",
                          read_frame)
               : 0;
}

/* --- writing --- */

/* Returns the function's name without the suffix of its version: cudaMalloc_v3020. */
static int find_hook(struct nsys *nsys, uint64_t name_id, uint16_t *hook_id)
{
    const uint32_t known = pair_map_get(&nsys->hooks, 0, name_id);
    sqlite3_stmt *find = nsys->find_string;
    int status = 0;
    *hook_id = known == PAIR_MAP_NONE ? nsys->no_hook : (uint16_t)known;
    if (!name_id || !find || known != PAIR_MAP_NONE || nsys->hooks.count > 10000)
        return 0;
    sqlite3_bind_int64(find, 1, (sqlite3_int64)name_id);
    const int step = sqlite3_step(find);
    const char *name = step == SQLITE_ROW ? text_of(nsys, find, 0) : NULL;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        status = failed(nsys, "StringIds");
    else if (name)
        status = draft_hook(nsys->draft, name, "nsys", hook_id, nsys->err);
    sqlite3_reset(find);
    return status || pair_map_put(&nsys->hooks, 0, name_id, *hook_id, nsys->err) ? -1 : 0;
}

static int note_block(struct nsys *nsys, const struct event *event)
{
    uint64_t size_bytes;
    if (event->kind != EVENT_ALLOC) {
        nsys->unknown_count += !live_blocks_take(&nsys->live, event->address, &size_bytes);
        return 0;
    }
    if (live_blocks_add(&nsys->live, event->address, event->size_bytes, nsys->err))
        return -1;
    return nsys->live.bytes > LIVE_BYTES_MOST
               ? broken(nsys, EVENTS, "the allocations add up to more than any memory")
               : 0;
}

static int write_events(struct nsys *nsys)
{
    const uint64_t start_ns = nsys->count ? nsys->rows[0].event.time_ns : 0;
    for (size_t i = 0; i < nsys->count; i++) {
        struct row *row = &nsys->rows[i];
        const uint32_t stack = pair_map_get(&nsys->stacks, 0, row->chain_id);

        row->event.time_ns -= start_ns;
        row->event.stack_id = row->chain_id && stack != PAIR_MAP_NONE ? stack : 0;
        if (!row->event.thread_id && find_thread(nsys, 0, &row->event.thread_id))
            return -1;
        if (find_hook(nsys, row->name_id, &row->event.hook_id) || note_block(nsys, &row->event) ||
            draft_event(nsys->draft, &row->event, nsys->err))
            return -1;
    }
    return 0;
}

/* Writes the name, uuid and memory of a card that the process used, if the export has
 * them in the known tables. */
static int write_device(struct nsys *nsys, int device)
{
    static const char sql[] =
        "SELECT gpu.uuid, gpu.name, gpu.totalMemory FROM TARGET_INFO_CUDA_DEVICE AS cuda JOIN "
        "TARGET_INFO_GPU AS gpu ON gpu.id = cuda.gpuId WHERE cuda.cudaId = ?1 AND cuda.pid = ?2";
    sqlite3_stmt *find = NULL;
    const char *uuid = NULL, *name = NULL;
    int64_t total_bytes = 0;
    int step = sqlite3_prepare_v2(nsys->db, sql, -1, &find, NULL);
    if (step == SQLITE_OK) {
        sqlite3_bind_int(find, 1, device);
        sqlite3_bind_int64(find, 2, PID_OF(nsys->process));
        step = sqlite3_step(find);
    }
    if (step == SQLITE_ROW) {
        uuid = text_of(nsys, find, 0);
        name = text_of(nsys, find, 1);
        total_bytes = number_of(nsys, find, 2);
    }
    nsys->is_broken |= step != SQLITE_ROW && step != SQLITE_DONE && step != SQLITE_ERROR;
    const int status = check_row(nsys, "TARGET_INFO_GPU") ||
                               draft_device(nsys->draft, device, uuid ? uuid : "", name ? name : "",
                                            total_bytes > 0 ? (uint64_t)total_bytes : 0, nsys->err)
                           ? -1
                           : 0;
    sqlite3_finalize(find);
    return status;
}

static int say_unknown(struct nsys *nsys)
{
    if (nsys->unknown_count &&
        draft_does_not_know(nsys->draft, nsys->err,
                            "allocations before the profile began, some of which are freed in it"))
        return -1;
    if (nsys->left_out_count &&
        draft_does_not_know(nsys->draft, nsys->err,
                            "the lives of %" PRIu64
                            " entries of static or pageable memory, which are left out",
                            nsys->left_out_count))
        return -1;
    return draft_lacks(nsys->draft, LACK_failures, nsys->err) ||
                   draft_does_not_know(nsys->draft, nsys->err,
                                       "Python's frames, blocks of frameworks' pools, virtual "
                                       "memory, and the card's free memory")
               ? -1
               : 0;
}

static int import_all(struct nsys *nsys)
{
    struct err *err = nsys->err;
    if (check_tables(nsys))
        return -1;
    if (has_column(nsys, "StringIds", "value") &&
        sqlite3_prepare_v2(nsys->db, "SELECT value FROM StringIds WHERE id = ?1", -1,
                           &nsys->find_string, NULL) != SQLITE_OK)
        return failed(nsys, "StringIds");
    if (draft_hook(nsys->draft, "(call not known)", "nsys", &nsys->no_hook, err) ||
        read_events(nsys) || read_calls(nsys) || read_chains(nsys) || write_events(nsys))
        return -1;
    for (int i = 0; i < LIMIT_devices; i++)
        if (nsys->devices[i] && write_device(nsys, i))
            return -1;
    if (nsys->process >= 0 && draft_set_integer(nsys->draft, META_pid, PID_OF(nsys->process), err))
        return -1;
    if (nsys->is_broken)
        return err_set(err, ERR_SYSTEM,
                       "%s: not all of it could be read: out of memory, or the disk failed",
                       nsys->source->path);
    return say_unknown(nsys);
}

int import_nsys(const struct import_source *source, struct draft *draft, struct err *err)
{
    struct nsys *nsys;
    struct err reason;
    int status = -1;
    if (!trace_file_check(source->path, &reason))
        return err_set(err, ERR_INPUT, "%s is a trace already", source->path);
    if (trace_file_check_end(source->path, &reason))
        return err_set(err, ERR_INPUT, "%s; export it again with 'nsys export --type=sqlite'",
                       reason.message);
    if (!(nsys = array_new(1, sizeof *nsys, err)))
        return -1;
    nsys->source = source;
    nsys->draft = draft;
    nsys->process = -1;
    nsys->err = err;
    if (!open_database(source->path, source->path, SQLITE_OPEN_READONLY, &nsys->db, err))
        status = import_all(nsys);
    sqlite3_finalize(nsys->find_string);
    sqlite3_close(nsys->db);
    pair_map_release(&nsys->by_correlation);
    pair_map_release(&nsys->threads);
    pair_map_release(&nsys->hooks);
    pair_map_release(&nsys->texts);
    pair_map_release(&nsys->stacks);
    live_blocks_release(&nsys->live);
    free(nsys->rows);
    free(nsys);
    return status;
}

bool import_is_nsys(const struct import_source *source)
{
    return import_is_database(source);
}
