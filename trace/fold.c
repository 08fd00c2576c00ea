/* SPDX-License-Identifier: MIT */
/*
 * See fold.h. The table shows how the database is opened so that it has every event:
 *
 *     beside it lies                     writable?   then
 *     no ring, or a living recorder's                open it read-only
 *     a dead recorder's ring             yes         drain the ring into it, remove the ring
 *     a dead recorder's ring             no          copy the database into memory and drain the
 *                                                    ring into the copy; tails move in a private
 *                                                    mapping only
 *     a ring that another process folds              wait for that process, and start again; where
 *                                                    it stands still, do as if not writable
 *
 * A folding process may be killed at any point: its events are not stored twice, the figures of the
 * end come from the whole ring, and the ring is removed last.
 */
#include "fold.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drain.h"
#include "fold_lock.h"
#include "open_database.h"
#include "ring.h"
#include "store.h"
#include "trace_file.h"

/* Is the file missing? Any other error at the ring must be reported, because without the ring the
 * trace would lack events. */
static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* Is this a ring file without its magic? Then the recorder was killed while it made the file, so
 * the ring has no events. */
static bool is_unborn_ring(const char *ring_path)
{
    char start[8] = "";
    const int fd = open(ring_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t length = fd >= 0 ? read(fd, start, sizeof start) : -1;
    if (fd >= 0)
        close(fd);
    return length >= 0 && memcmp(start, (const char[8]){0}, sizeof start) == 0;
}

/* --- draining --- */

/* Returns the time of the last stored event; -1: no event is stored. */
static int64_t last_stored_ns(sqlite3 *db)
{
    static const char query[] = "SELECT time_ns FROM event ORDER BY seq DESC LIMIT 1";
    sqlite3_stmt *select = NULL;
    int64_t time_ns = -1;
    if (sqlite3_prepare_v2(db, query, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        time_ns = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return time_ns;
}

/* A killed process's trace ends with its last event. It is complete only if the process said so
 * before, as at an exec. */
static int store_end(struct drain *drain, sqlite3 *db, struct err *err)
{
    const struct drain_remains remains = drain_remains(drain);
    const int64_t times_ns[] = {last_stored_ns(db), (int64_t)remains.last_time_ns};
    struct drain_end end = {.end_ns = store_meta_read(db, META_end_ns, 0),
                            .exit_status = -1,
                            .in_flight_events = remains.in_flight_events,
                            .complete = store_meta_read(db, META_complete, 0) == 1};
    for (int i = 0; i < 2; i++)
        end.end_ns = times_ns[i] > end.end_ns ? times_ns[i] : end.end_ns;
    return drain_store_end(drain, &end, err);
}

static bool is_partly_read(const struct ring *ring, struct err *err)
{
    if (!atomic_load_explicit(&ring->map_failed, memory_order_relaxed))
        return false;
    err_set(err, ERR_SYSTEM, "cannot map all of %s", ring->path);
    return true;
}

/* Stores all events of the ring. On success db stays open, on error it is closed. */
static int drain_into(sqlite3 *db, struct ring *ring, struct err *err)
{
    struct store store;
    int result = -1;
    if (store_attach(&store, db, err))
        return -1;
    struct drain *drain = drain_new(ring, &store, true);
    if (!drain)
        err_set(err, ERR_SYSTEM, "out of memory for %s", ring->path);
    else if (!drain_all(drain, err) && !is_partly_read(ring, err))
        result = store_end(drain, db, err);
    free(drain);
    if (result)
        store_abandon(&store);
    else
        store_detach(&store);
    return result;
}

static int fold_in_place(const char *path, struct ring *ring, sqlite3 **db, struct err *err)
{
    if (open_database(path, path, SQLITE_OPEN_READWRITE, db, err))
        return -1;
    if (drain_into(*db, ring, err)) {
        *db = NULL;
        return -1;
    }
    /* Leaves WAL mode, so that the file stands alone as after a clean exit. This may fail because
     * another process reads the file; the trace can be read nevertheless. */
    sqlite3_busy_timeout(*db, 100);
    sqlite3_exec(*db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    unlink(ring->path);
    return 0;
}

/* --- a copy --- */

static int read_into_memory(const char *path, const char *shown, int flags, sqlite3 **db,
                            struct err *err)
{
    sqlite3 *opened;
    if (open_database(path, shown, flags, &opened, err))
        return -1;
    const int result = open_database_copy(opened, shown, db, err);
    sqlite3_close(opened);
    return result;
}

static int copy_file(const char *from, const char *to, struct err *err)
{
    char buffer[65536];
    size_t length = 0;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    bool copied = out != NULL;
    while (copied && (length = fread(buffer, 1, sizeof buffer, in)) > 0)
        copied = fwrite(buffer, 1, length, out) == length;
    copied = copied && !ferror(in);
    if (out && fclose(out) != 0)
        copied = false;
    if (!copied)
        err_set(err, ERR_SYSTEM, "cannot copy %s to %s: %s", from, to, strerror(errno));
    if (in)
        fclose(in);
    return copied ? 0 : -1;
}

/* SQLite cannot open a database that has a -wal file if it cannot write the folder. So both files
 * are copied to a writable folder and read into memory, and the copies are removed. */
static int open_copy(const char *path, sqlite3 **db, struct err *err)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_MAX], from[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
    char copy[sizeof folder + 32], name[sizeof copy + TRACE_FILE_SUFFIX_BYTES];
    int result = 0;
    snprintf(folder, sizeof folder, "%s/gpumemtrace.XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return err_set(err, ERR_SYSTEM, "cannot make %s: %s", folder, strerror(errno));
    snprintf(copy, sizeof copy, "%s/trace.db", folder);
    for (int i = 0; i < 2 && !result; i++) {
        snprintf(from, sizeof from, "%s%s", path, suffixes[i]);
        snprintf(name, sizeof name, "%s%s", copy, suffixes[i]);
        if (i == 0 || trace_file_has(path, suffixes[i]))
            result = copy_file(from, name, err);
    }
    if (!result)
        result = read_into_memory(copy, path, SQLITE_OPEN_READWRITE, db, err);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", copy, suffixes[i]);
        unlink(name);
    }
    rmdir(folder);
    return result;
}

/* The ring's tails are copied first. So if another process stores events from now on, these events
 * may be read twice, but none is missed. */
static int fold_into_copy(const char *path, struct ring *ring, sqlite3 **db, struct err *err)
{
    ring_make_private(ring);
    if (read_into_memory(path, path, SQLITE_OPEN_READONLY, db, NULL) && open_copy(path, db, err))
        return -1;
    if (!drain_into(*db, ring, err))
        return 0;
    *db = NULL;
    return -1;
}

/* --- opening --- */

static bool folder_is_writable(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 2;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : "./");
    return access(folder, W_OK) == 0 && access(path, W_OK) == 0;
}

/* Uses a copy if the disk is full. Events that were stored by then are already in the database. */
static int fold(const char *path, struct ring *ring, bool in_place, sqlite3 **db, struct err *err)
{
    if (in_place && ring->writable && folder_is_writable(path) &&
        !fold_in_place(path, ring, db, err))
        return 0;
    return fold_into_copy(path, ring, db, err);
}

static int open_without_ring(const char *path, sqlite3 **db, struct err *err)
{
    /* A command was killed while it stored names. SQLite undoes that transaction if it may
     * write. */
    if (trace_file_has(path, "-journal") && folder_is_writable(path))
        return open_database(path, path, SQLITE_OPEN_READWRITE, db, err);
    if (!trace_file_has(path, "-wal") || folder_is_writable(path))
        return open_database(path, path, SQLITE_OPEN_READONLY, db, err);
    return open_copy(path, db, err);
}

/* Returns 1 if another process has just folded the ring. */
static int open_with_ring(const char *path, struct ring *ring, sqlite3 **db,
                          struct fold_result *result, struct err *err)
{
    if (result->recording)
        return open_database(path, path, SQLITE_OPEN_READONLY, db, err);
    const enum fold_lock lock = fold_lock_take(ring, path);
    if (lock == FOLD_LOCK_GONE)
        return 1;
    result->folded = true;
    return fold(path, ring, lock == FOLD_LOCK_TAKEN, db, err);
}

int fold_open(const char *path, sqlite3 **db, struct fold_result *result, struct err *err)
{
    char ring_path[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
    int status = 1;
    *db = NULL;
    *result = (struct fold_result){false, false};
    if (trace_file_check(path, err))
        return -1;
    snprintf(ring_path, sizeof ring_path, "%s-ring.0", path);
    do {
        struct ring ring;
        if (is_missing(ring_path) || is_unborn_ring(ring_path))
            return open_without_ring(path, db, err);
        if (ring_open(&ring, ring_path, &result->recording, err)) {
            if (!is_missing(ring_path))
                return -1;
            continue; /* another process has just removed it */
        }
        status = open_with_ring(path, &ring, db, result, err);
        ring_release(&ring);
    } while (status > 0);
    return status;
}
