/* SPDX-License-Identifier: MIT */
/* Finds the trace of a program that ended without exit; see run_end.h. */
#include "run_end.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/open_database.h"
#include "trace/ring.h"
#include "trace/store.h"
#include "analyzer/util/text.h"
#include "common/cgroup.h"
#include "run_traces.h"

static bool expand(const char *pattern, pid_t pid, char path[PATH_MAX])
{
    struct text text;
    bool known = true;
    text_init(&text, PATH_MAX - 1);
    for (; *pattern && known; pattern++) {
        if (*pattern != '%')
            text_add_bytes(&text, pattern, 1);
        else if (*++pattern == 'p')
            text_addf(&text, "%ld", (long)pid);
        else if (*pattern == '%')
            text_add(&text, "%");
        else
            known = false;
    }
    known = known && !text_failed(&text);
    snprintf(path, PATH_MAX, "%s", known ? text.data : "");
    text_release(&text);
    return known;
}

/* Checks the pid in the ring's header, because a file of this name may belong to another
 * process of the run. */
static bool has_ring_of(const char *path, pid_t pid)
{
    char ring_path[PATH_MAX + 16];
    struct ring_header header = {0};
    snprintf(ring_path, sizeof ring_path, "%s-ring.0", path);
    const int fd = open(ring_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool read_whole = fd >= 0 && read(fd, &header, sizeof header) == (ssize_t)sizeof header;
    if (fd >= 0)
        close(fd);
    return read_whole && header.pid == pid;
}

/* Does the trace say that it is complete? A ring also remains after an exec, but the trace of that
 * process says that it is complete. */
static bool is_complete(const char *path)
{
    sqlite3 *db = NULL;
    if (open_database(path, path, SQLITE_OPEN_READONLY, &db, NULL))
        return true; /* not a readable database: its end is unknown */
    const bool complete = store_meta_read(db, META_complete, 0) == 1;
    sqlite3_close(db);
    return complete;
}

bool run_end_left_trace(const char *pattern, pid_t pid, char path[PATH_MAX])
{
    return expand(pattern, pid, path) && has_ring_of(path, pid) && !is_complete(path);
}

/* Adds the template with "*" for each field, because trace.%p.db may have become trace.17.db. */
static void add_glob(struct text *glob_text, const char *pattern, const char *end)
{
    for (; pattern < end; pattern++)
        if (*pattern == '%' && pattern + 1 < end) {
            pattern++;
            text_add(glob_text, "*");
        } else {
            if (strchr("*?[\\", *pattern))
                text_add(glob_text, "\\");
            text_add_bytes(glob_text, pattern, 1);
        }
}

static bool is_any_since(const struct text *text, const struct timespec *since)
{
    glob_t found;
    bool is_any = false;
    if (text_failed(text) || glob(text->data, GLOB_NOSORT, NULL, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc && !is_any; i++)
        is_any = run_traces_is_since(found.gl_pathv[i], since);
    globfree(&found);
    return is_any;
}

/* Was such a file written since then? Also looks for numbered names, because the recorder writes
 * trace.1.db if trace.db exists. */
static bool is_there_since(const char *folder, const char *pattern, const struct timespec *since)
{
    const char *slash = strrchr(pattern, '/'), *dot = strrchr(pattern, '.');
    const char *end = pattern + strlen(pattern);
    const char *stem_end = dot && (!slash || dot > slash) ? dot : end;
    struct text plain, numbered;
    text_init(&plain, 4 * PATH_MAX);
    text_init(&numbered, 4 * PATH_MAX);
    text_add(&plain, folder);
    add_glob(&plain, pattern, end);
    text_add(&numbered, folder);
    add_glob(&numbered, pattern, stem_end);
    text_add(&numbered, ".[0-9]*");
    add_glob(&numbered, stem_end, end);
    const bool is_there = is_any_since(&plain, since) || is_any_since(&numbered, since);
    text_release(&plain);
    text_release(&numbered);
    return is_there;
}

bool run_end_left_nothing(const char *pattern, const struct timespec *since)
{
    const char *folder = getenv("TMPDIR"), *slash = strrchr(pattern, '/');
    struct stat status;
    char place[PATH_MAX];
    if (!stat(pattern, &status) && !S_ISREG(status.st_mode))
        return false;
    snprintf(place, sizeof place, "%s/", folder && *folder ? folder : "/tmp");
    return !is_there_since("", pattern, since) &&
           !is_there_since(place, slash ? slash + 1 : pattern, since);
}

uint64_t run_end_oom_kills(const char *root)
{
    struct cgroup cgroup;
    return cgroup_find(&cgroup, root) ? cgroup_figure(&cgroup, CGROUP_OOM_KILLS) : CGROUP_UNKNOWN;
}

bool run_end_was_oom_kill(int signal, uint64_t kills_before, uint64_t kills_after)
{
    return signal == SIGKILL && kills_before != CGROUP_UNKNOWN && kills_after != CGROUP_UNKNOWN &&
           kills_after > kills_before;
}
