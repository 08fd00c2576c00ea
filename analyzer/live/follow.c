/* SPDX-License-Identifier: MIT */
/* See follow.h. */
#include "follow.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyzer/load/event_reader.h"
#include "analyzer/load/load.h"
#include "analyzer/load/query.h"
#include "analyzer/util/clock.h"

/* The replay writes its error to follow->err. */
static int replay_failed(const struct follow *follow, struct err *err)
{
    *err = follow->err;
    return -1;
}

/* --- the file --- */

static int open_file(struct follow *follow, struct err *err)
{
    struct trace *trace = follow->trace;
    struct opened_trace file;
    if (load_open(&file, trace->path, err))
        return -1;
    trace->db = file.db;
    trace->recording = file.recording;
    if (sqlite3_exec(trace->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return query_failed(trace->path, trace->db, "event", err);
}

/* Reads two numbers of one row. They stay unchanged if there is no row. */
static int read_pair(const struct trace *trace, const char *select, uint64_t *first,
                     uint64_t *second, struct err *err)
{
    sqlite3_stmt *stmt;
    if (query_prepare(trace->path, trace->db, select, &stmt, err))
        return -1;
    const int step = sqlite3_step(stmt);
    if (step == SQLITE_ROW) {
        *first = (uint64_t)sqlite3_column_int64(stmt, 0);
        *second = (uint64_t)sqlite3_column_int64(stmt, 1);
    }
    const int status = step == SQLITE_ROW || step == SQLITE_DONE
                           ? 0
                           : query_failed(trace->path, trace->db, "event", err);
    sqlite3_finalize(stmt);
    return status;
}

/* --- events --- */

/* The last seq that this pass may replay (see follow.h). */
static uint64_t sure_until(const struct follow *follow, uint64_t stored_before)
{
    const uint64_t waiting = follow->ring.first_seq;
    if (!follow->trace->recording)
        return UINT64_MAX;
    return waiting <= stored_before ? waiting - 1 : stored_before;
}

/* Drops the events after sure_seq from a batch. */
static void cut_batch(const struct follow *follow, struct event_batch *batch)
{
    const struct trace_integer *exit_seq = &follow->trace->meta.exit_seq;
    size_t count = batch->count;
    while (count && batch->events[count - 1].seq > follow->sure_seq)
        count--;
    if (count == batch->count)
        return;
    batch->count = count;
    batch->counted = batch->counted < count ? batch->counted : count;
    batch->has_exit = exit_seq->known && (uint64_t)exit_seq->value <= follow->sure_seq;
}

/* Returns 1 if there may be more events, 0 if not. */
static int take_batch(struct follow *follow, const struct event_source *source, struct err *err)
{
    struct event_batch batch;
    if (source->next(source->self, &batch, err))
        return -1;
    cut_batch(follow, &batch);
    if (!batch.count)
        return 0;
    follow->seq = batch.events[batch.count - 1].seq;
    follow->read_count += batch.count;
    if (follow->has_exit)
        batch.counted = 0;
    batch.has_exit |= follow->has_exit;
    follow->has_exit = batch.has_exit;
    return replay_take(follow->replay, &batch) ? replay_failed(follow, err) : 1;
}

static int read_events(struct follow *follow, uint64_t until_ns, struct err *err)
{
    struct event_reader *reader = event_reader_after(follow->trace, follow->seq, err);
    int status = 1;
    if (!reader)
        return -1;
    const struct event_source source = event_reader_source(reader);
    do
        status = take_batch(follow, &source, err);
    while (status > 0 && monotonic_ns() < until_ns);
    event_reader_free(reader);
    follow->is_caught_up = status == 0;
    return status < 0 ? -1 : 0;
}

/* --- passes --- */

static int learn(struct follow *follow, struct err *err)
{
    const bool *grown = follow->growth.has_grown;
    if (!grown[GROWING_string] && !grown[GROWING_frame] && !grown[GROWING_location] &&
        !grown[GROWING_thread])
        return 0;
    return replay_learn(follow->replay) ? replay_failed(follow, err) : 0;
}

/* Sets is_torn if the replay must begin again: the exit was undone, or rows were stored late, below
 * a seq that was replayed already, so that they were missed. */
static int look_back(const struct follow *follow, bool *is_torn, struct err *err)
{
    const struct trace *trace = follow->trace;
    uint64_t count = follow->read_count, unused;
    *is_torn = follow->has_exit && trace->recording && !trace->meta.exit_seq.known;
    if (trace->recording || !follow->is_caught_up)
        return 0;
    if (read_pair(trace, "SELECT count(*), 0 FROM event", &count, &unused, err))
        return -1;
    *is_torn |= count != follow->read_count;
    return 0;
}

static int step(struct follow *follow, uint64_t budget_ns, bool *is_torn, struct err *err)
{
    const uint64_t begin_ns = monotonic_ns(), stored_before = follow->stored_seq;
    follow->looked_ns = begin_ns;
    follow->ring = ring_look(follow->trace->path);
    if (open_file(follow, err) ||
        load_tables_more(follow->trace, follow->trace->db, &follow->growth, err) ||
        read_pair(follow->trace, "SELECT seq, time_ns FROM event ORDER BY seq DESC LIMIT 1",
                  &follow->stored_seq, &follow->stored_ns, err) ||
        learn(follow, err))
        return -1;
    follow->sure_seq = sure_until(follow, stored_before);
    follow->is_caught_up = follow->seq >= follow->sure_seq;
    if (!follow->is_caught_up && read_events(follow, begin_ns + budget_ns, err))
        return -1;
    return look_back(follow, is_torn, err);
}

int follow_step(struct follow *follow, uint64_t budget_ns, struct err *err)
{
    bool is_torn = false;
    const int status = step(follow, budget_ns, &is_torn, err);
    trace_close_events(follow->trace);
    if (status)
        return -1;
    return replay_pause(follow->replay) ? replay_failed(follow, err) : is_torn;
}

/* --- the beginning --- */

/* A recorder creates the file, then its tables, then the ring that shows that it is alive. All of
 * this takes milliseconds. A trace that has stayed incomplete for 10 s is abandoned. */
static bool is_being_made(const char *path)
{
    enum { LONGEST_S = 10 };
    struct stat status;
    return !stat(path, &status) && llabs(time(NULL) - status.st_mtime) < LONGEST_S;
}

static bool has_begun(const struct trace *trace)
{
    return trace->recording || trace->meta.end_ns.known || trace->meta.complete.value;
}

int follow_open(struct follow *follow, struct trace *trace, struct history *history,
                const char *path, const struct replay_plan *plan, struct err *err)
{
    struct err why;
    *follow = (struct follow){.trace = trace, .history = history};
    if (load_trace(trace, path, &why)) {
        if (why.code == ERR_CUT && is_being_made(path))
            return 1;
        *err = why;
        return -1;
    }
    trace_close_events(trace);
    if (!has_begun(trace) && is_being_made(path)) {
        trace_release(trace);
        return 1;
    }
    follow->replay = replay_begin(history, trace, plan, &follow->err);
    if (follow->replay)
        return 0;
    trace_release(trace);
    return replay_failed(follow, err);
}

void follow_close(struct follow *follow)
{
    replay_end(follow->replay);
    *follow = (struct follow){0};
}
