/* SPDX-License-Identifier: MIT */
/* What a program that ended without exit left behind; see run_end.h. */
#include "run_end.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/open_database.h"
#include "trace/ring.h"
#include "trace/store.h"
#include "analyzer/util/text.h"
#include "common/cgroup.h"

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

/* The ring says whose it is: a file of this name may be of another process of the run. */
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

/* After an exec the ring stays, too, and the trace says complete. */
static bool is_complete(const char *path)
{
    sqlite3 *db = NULL;
    if (open_database(path, path, SQLITE_OPEN_READONLY, &db, NULL))
        return true; /* whatever it is, nothing is known of its end */
    const bool complete = store_meta_read(db, META_complete, 0) == 1;
    sqlite3_close(db);
    return complete;
}

bool run_end_left_trace(const char *pattern, pid_t pid, char path[PATH_MAX])
{
    return expand(pattern, pid, path) && has_ring_of(path, pid) && !is_complete(path);
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
