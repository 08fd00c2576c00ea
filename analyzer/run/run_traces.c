/* SPDX-License-Identifier: MIT */
/* Finds the traces of a run; see run_traces.h. */
#include "run_traces.h"

#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/util/text.h"
#include "trace/open_database.h"
#include "trace/store.h"

/* Adds a template as a pattern for glob(3): "*" for a field, other characters as they are. */
static void add_as_glob(struct text *globbed, const char *pattern, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool is_percent = pattern[i] == '%' && i + 1 < length && pattern[i + 1] == '%';
        const bool is_field = pattern[i] == '%' && i + 1 < length && !is_percent;

        i += is_percent || is_field;
        if (is_field) {
            text_add(globbed, "*");
            continue;
        }
        if (strchr("*?[\\", pattern[i]))
            text_add(globbed, "\\");
        text_add_bytes(globbed, &pattern[i], 1);
    }
}

/* Adds the numbered form of a name, because another process may have written a/b.2.db for
 * "a/b.db". */
static void add_numbered(struct text *globbed, const char *pattern)
{
    const char *slash = strrchr(pattern, '/'), *dot = strrchr(pattern, '.');
    const size_t stem =
        dot && dot > (slash ? slash + 1 : pattern) ? (size_t)(dot - pattern) : strlen(pattern);
    add_as_glob(globbed, pattern, stem);
    text_add(globbed, ".*");
    add_as_glob(globbed, pattern + stem, strlen(pattern) - stem);
}

/* Returns whether the trace is complete and its run id ("pid.start") has the pid of the topmost
 * process. The database is read directly, because loading the trace would also store the events
 * that a killed process of another run left in its ring. */
static bool is_of_run(const char *path, pid_t pid)
{
    static const char sql[] =
        "SELECT 1 FROM meta WHERE key='run_id' AND value GLOB CAST(? AS TEXT) || '.*'";
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    const bool is = !open_database(path, path, SQLITE_OPEN_READONLY, &db, NULL) &&
                    store_meta_read(db, META_complete, 0) == 1 &&
                    sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK &&
                    sqlite3_bind_int64(select, 1, pid) == SQLITE_OK &&
                    sqlite3_step(select) == SQLITE_ROW;
    sqlite3_finalize(select);
    sqlite3_close(db);
    return is;
}

bool run_traces_is_since(const char *path, const struct timespec *since)
{
    struct stat status;
    if (stat(path, &status))
        return false;
    return status.st_mtim.tv_sec > since->tv_sec ||
           (status.st_mtim.tv_sec == since->tv_sec && status.st_mtim.tv_nsec >= since->tv_nsec);
}

void run_traces_each(const struct run_past *run, run_trace_seen *on_trace, void *self)
{
    struct text whole, numbered;
    glob_t found = {0};
    text_init(&whole, 2 * PATH_MAX);
    text_init(&numbered, 2 * PATH_MAX);
    add_as_glob(&whole, run->pattern, strlen(run->pattern));
    add_numbered(&numbered, run->pattern);
    if (!text_failed(&whole) && !text_failed(&numbered)) {
        glob(whole.data, 0, NULL, &found);
        glob(numbered.data, GLOB_APPEND, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (run_traces_is_since(found.gl_pathv[i], &run->started) &&
            is_of_run(found.gl_pathv[i], run->pid))
            on_trace(self, found.gl_pathv[i]);
    globfree(&found);
    text_release(&whole);
    text_release(&numbered);
}
