/* SPDX-License-Identifier: MIT */
/* Reads the events pool-limit; see pool_limits.h. */
#include "pool_limits.h"

#include <string.h>

#include "gpumemtrace/event.h"
#include "query.h"

/* The last number of allocation_sums counts failures. If the trace has no such text, some
 * allocations may have failed. */
static bool may_have_failed(const struct trace *trace)
{
    const char *sums = trace->meta.allocation_sums.value;
    const char *failed = sums ? strrchr(sums, ' ') : NULL;
    return !failed || strcmp(failed, " 0") != 0;
}

int pool_limits_read(const struct trace *trace, const struct pool_limit_listener *listener,
                     struct err *err)
{
    static const char select[] =
        "SELECT device, size_bytes, address FROM event "
        "WHERE kind = ? AND device >= 0 AND size_bytes > 0 AND address >= 0 "
        "ORDER BY seq";
    sqlite3_stmt *rows = NULL;
    int step = SQLITE_DONE, status = 0;
    if (!may_have_failed(trace))
        return 0;
    if (query_prepare(trace->path, trace->db, select, &rows, err))
        return -1;
    sqlite3_bind_int(rows, 1, EVENT_POOL_LIMIT);
    while (!status && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        const struct pool_limit limit = {.device = sqlite3_column_int(rows, 0),
                                         .bytes = (uint64_t)sqlite3_column_int64(rows, 1),
                                         .rounding_bytes = (uint64_t)sqlite3_column_int64(rows, 2)};
        status = listener->on_limit(listener->self, &limit, err);
    }
    if (!status && step != SQLITE_DONE)
        status = query_failed(trace->path, trace->db, "event", err);
    sqlite3_finalize(rows);
    return status;
}
