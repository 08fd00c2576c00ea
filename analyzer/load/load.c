/* SPDX-License-Identifier: MIT */
/* Loads a trace file into memory; see load.h. */
#include "load.h"

#include <sqlite3.h>
#include <string.h>

#include "load_tables.h"
#include "query.h"
#include "analyzer/util/reads.h"
#include "trace/fold.h"

int load_trace(struct trace *trace, const char *path, struct err *err)
{
    struct trace loaded = {0};
    struct fold_result folded = {0};
    int status = -1;
    loaded.path = strdup(path);
    if (!loaded.path) {
        err_set(err, ERR_SYSTEM, "out of memory for %s", path);
        goto out;
    }
    if (fold_open(path, &loaded.db, &folded, err))
        goto out;
    reads_count_open();
    loaded.recording = folded.recording;
    /* One transaction, so that tables and events are of one moment while the recorder runs. */
    if (sqlite3_exec(loaded.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        query_failed(path, loaded.db, "event", err);
        goto out;
    }
    if (load_tables(&loaded, loaded.db, err))
        goto out;
    *trace = loaded;
    status = 0;
out:
    if (status)
        trace_release(&loaded);
    return status;
}
