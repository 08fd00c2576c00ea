/* SPDX-License-Identifier: MIT */
/* Loads a trace file into memory; see load.h. */
#include "load.h"

#include <sqlite3.h>
#include <string.h>

#include "load_holders.h"
#include "load_tables.h"
#include "query.h"
#include "analyzer/util/reads.h"
#include "trace/fold.h"

int load_open(struct opened_trace *file, const char *path, struct err *err)
{
    struct fold_result folded = {0};
    *file = (struct opened_trace){0};
    if (fold_open(path, &file->db, &folded, err))
        return -1;
    file->recording = folded.recording;
    reads_count_open();
    return 0;
}

int load_opened(struct trace *trace, const char *path, const struct opened_trace *file,
                struct err *err)
{
    struct trace loaded = {.db = file->db, .recording = file->recording, .path = strdup(path)};
    if (!loaded.path) {
        err_set(err, ERR_SYSTEM, "out of memory for %s", path);
        goto failed;
    }
    /* One transaction, so that tables and events are of one moment while the recorder runs. */
    if (sqlite3_exec(loaded.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        query_failed(path, loaded.db, "event", err);
        goto failed;
    }
    if (load_tables(&loaded, loaded.db, err) || load_holders(&loaded, loaded.db, err))
        goto failed;
    *trace = loaded;
    return 0;
failed:
    trace_release(&loaded);
    return -1;
}

int load_trace(struct trace *trace, const char *path, struct err *err)
{
    struct opened_trace file;
    return load_open(&file, path, err) ? -1 : load_opened(trace, path, &file, err);
}
