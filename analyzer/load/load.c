/* SPDX-License-Identifier: MIT */
/* From a path to a trace in memory; see load.h. */
#include "load.h"

#include <sqlite3.h>
#include <string.h>

#include "load_events.h"
#include "load_tables.h"
#include "trace/fold.h"

int load_trace(struct trace *trace, const char *path, struct err *err)
{
    struct trace loaded = {0};
    struct fold_result folded = {0};
    sqlite3 *db = NULL;
    int status = -1;
    loaded.path = strdup(path);
    if (!loaded.path) {
        err_set(err, ERR_SYSTEM, "out of memory for %s", path);
        goto out;
    }
    if (fold_open(path, &db, &folded, err))
        goto out;
    loaded.recording = folded.recording;
    if (load_tables(&loaded, db, err) || load_events(&loaded, db, err))
        goto out;
    *trace = loaded;
    status = 0;
out:
    sqlite3_close(db);
    if (status)
        trace_release(&loaded);
    return status;
}
