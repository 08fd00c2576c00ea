/* SPDX-License-Identifier: MIT */
/* The table call_duration; see durations.h. */
#include "durations.h"

#include "query.h"

static int tell(const struct trace *trace, sqlite3_stmt *stmt,
                const struct duration_listener *listener, struct err *err)
{
    const int64_t seq = sqlite3_column_int64(stmt, 0), duration_ns = sqlite3_column_int64(stmt, 1);
    if (sqlite3_column_type(stmt, 1) != SQLITE_INTEGER || seq < 0 || duration_ns < 0)
        return err_set(err, ERR_INPUT,
                       "%s: table call_duration, row %lld: duration_ns is missing or out of range",
                       trace->path, (long long)seq);
    return listener->on_duration(listener->self, (uint64_t)seq, (uint64_t)duration_ns, err);
}

int durations_read(const struct trace *trace, const struct duration_listener *listener,
                   struct err *err)
{
    static const char select[] = "SELECT seq, duration_ns FROM call_duration ORDER BY seq";
    sqlite3_stmt *stmt = NULL;
    int step, status = -1;
    if (query_prepare(trace->path, trace->db, select, &stmt, err))
        return -1;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
        if (tell(trace, stmt, listener, err))
            goto out;
    status = step == SQLITE_DONE ? 0 : query_failed(trace->path, trace->db, "call_duration", err);
out:
    sqlite3_finalize(stmt);
    return status;
}
