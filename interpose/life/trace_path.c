/* SPDX-License-Identifier: MIT */
/*
 * See trace_path.h.
 */
#include "trace_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/numbers.h"
#include "common/proc_stat.h"
#include "gpumemtrace/version.h"
#include "trace/ring.h"
#include "trace/store.h"

#define NAMES_TRIED 10000

/* --- rank and run --- */

int64_t trace_path_rank(void)
{
    static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        uint64_t rank;
        if (value && *value && !*digits_read(value, &rank) && rank <= INT64_MAX)
            return (int64_t)rank;
    }
    return -1;
}

static ssize_t read_file(const char *path, char *buffer, size_t buffer_bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t part;
    if (fd < 0)
        return -1;
    while (length < buffer_bytes - 1 &&
           (part = read(fd, buffer + length, buffer_bytes - 1 - length)) > 0)
        length += (size_t)part;
    close(fd);
    buffer[length] = '\0';
    return (ssize_t)length;
}

/* Was this process started with our library preloaded? */
static bool has_preload(int64_t pid)
{
    static char text[1 << 17]; /* too large for the stack; called once, while a recording starts */
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/environ", (long long)pid);
    const ssize_t length = read_file(path, text, sizeof text);
    for (ssize_t at = 0; at < length; at += (ssize_t)strlen(text + at) + 1)
        if (strncmp(text + at, "LD_PRELOAD=", 11) == 0)
            return strstr(text + at, "libgpumemtrace.so") != NULL;
    return false;
}

const char *trace_path_run_id(void)
{
    static char run_id[64]; /* kept for a fork's child, whose ancestors may have ended before it
                             * asks */
    int64_t pid = getpid();
    struct proc_stat here = {0}, above;
    if (*run_id)
        return run_id;
    (void)proc_stat_read(&here, pid);
    while (here.parent_pid > 1 && has_preload(here.parent_pid) &&
           !proc_stat_read(&above, here.parent_pid)) {
        pid = here.parent_pid;
        here = above;
    }
    snprintf(run_id, sizeof run_id, "%lld.%llu", (long long)pid,
             (unsigned long long)here.start_ticks);
    return run_id;
}

/* --- template --- */

struct name {
    char text[PATH_MAX];
    size_t length;
    bool overflow;
};

static void name_append(struct name *name, const char *text)
{
    const size_t length = strlen(text);
    if (name->length + length >= sizeof name->text) {
        name->overflow = true;
        return;
    }
    memcpy(name->text + name->length, text, length + 1);
    name->length += length;
}

static void name_append_field(struct name *name, char field)
{
    char text[256] = "";
    switch (field) {
    case 'p':
        snprintf(text, sizeof text, "%ld", (long)getpid());
        break;
    case 'h':
        gethostname(text, sizeof text - 1);
        break;
    case 'r':
        snprintf(text, sizeof text, "%lld",
                 trace_path_rank() < 0 ? 0LL : (long long)trace_path_rank());
        break;
    case 't':
        snprintf(text, sizeof text, "%lld", (long long)time(NULL));
        break;
    case '%':
        snprintf(text, sizeof text, "%%");
        break;
    default: /* an unknown letter stays in the name, so that the file is still written */
        snprintf(text, sizeof text, "%%%c", field);
    }
    name_append(name, text);
}

static void expand(const char *pattern, struct name *name, bool *has_pid)
{
    *has_pid = false;
    for (const char *at = pattern; *at; at++) {
        if (*at == '%' && at[1]) {
            *has_pid |= at[1] == 'p';
            name_append_field(name, *++at);
        } else {
            name_append(name, (const char[]){*at, '\0'});
        }
    }
}

/* "a/b.db" -> "a/b.2.db"; a name without extension gets ".2" at its end. */
static int numbered(const char *name, unsigned number, char *path, size_t path_bytes)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    if (number < 2)
        return snprintf(path, path_bytes, "%s", name);
    if (!dot || (slash && dot < slash) || dot == (slash ? slash + 1 : name))
        return snprintf(path, path_bytes, "%s.%u", name, number);
    return snprintf(path, path_bytes, "%.*s.%u%s", (int)(dot - name), name, number, dot);
}

/* --- making the file --- */

static bool text_equals(sqlite3 *db, const char *sql, const char *expected)
{
    sqlite3_stmt *select = NULL;
    bool equal = false;
    if (sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(select, 0);
        equal = text && strcmp(text, expected) == 0;
    }
    sqlite3_finalize(select);
    return equal;
}

static bool is_recording(const char *path)
{
    char ring_path[PATH_MAX];
    struct ring ring;
    struct err err;
    bool recording;
    if (snprintf(ring_path, sizeof ring_path, "%s-ring.0", path) >= (int)sizeof ring_path)
        return true;
    if (access(ring_path, F_OK) != 0 || ring_open(&ring, ring_path, &recording, &err))
        return false;
    ring_release(&ring);
    return recording;
}

/* Is the file a complete trace of another run? The file is opened without file locks, because
 * SQLite remembers its locks of each file in memory. If the child of a fork opened its parent's
 * trace with locks, it would use its parent's locks and descriptors. */
static bool is_replaceable(const char *path, const char *run_id)
{
    sqlite3 *db = NULL;
    char application_id[16];
    snprintf(application_id, sizeof application_id, "%d", GMT_TRACE_APPLICATION_ID);
    const bool replaceable =
        !is_recording(path) &&
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, "unix-none") == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK &&
        text_equals(db, "PRAGMA application_id", application_id) &&
        store_meta_read(db, META_complete, 0) == 1 &&
        !text_equals(db, "SELECT value FROM meta WHERE key='run_id'", run_id);
    sqlite3_close(db);
    return replaceable;
}

/* Removes a finished trace. If two processes of a job find the same old file, flock makes them take
 * turns. The second process then sees that the name belongs to a new file. */
static bool remove_finished(const char *path, const char *run_id)
{
    struct stat opened, named;
    bool removed = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev &&
        is_replaceable(path, run_id))
        removed = unlink(path) == 0; /* make_file removes the other files of that trace */
    close(fd);
    return removed;
}

/* Removes the files beside an earlier trace of this name whose process was killed or ended by an
 * exec. These files are useless without that trace. */
static void remove_remains(const char *path)
{
    static const char *const suffixes[] = {"-ring.0", "-wal", "-shm"};
    char name[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

void trace_path_remove(const char *path)
{
    unlink(path);
    remove_remains(path);
}

/* If a trace is deleted while it is recorded, its ring still reserves the name. */
static int make_file(const char *path)
{
    const bool taken = is_recording(path);
    const int fd = taken ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (taken)
        errno = EEXIST;
    if (fd < 0)
        return -1;
    close(fd);
    remove_remains(path);
    return 0;
}

static int make_absolute(char *path, size_t path_bytes)
{
    char absolute[PATH_MAX];
    if (!realpath(path, absolute))
        return -1;
    return snprintf(path, path_bytes, "%s", absolute) < (int)path_bytes ? 0 : -1;
}

/* Says in words which kind of object has this name, if it is not a file; NULL: it is a file, or
 * nothing has this name. A name of another object is a mistake, or a way to ask for no trace. It
 * must not be opened, because opening a FIFO would block. */
static const char *other_than_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return NULL;
    if (S_ISDIR(status.st_mode))
        return "a folder";
    return S_ISFIFO(status.st_mode) ? "a FIFO" : S_ISSOCK(status.st_mode) ? "a socket" : "a device";
}

int trace_path_make(const char *pattern, const char *run_id, char *path, size_t path_bytes,
                    struct err *err)
{
    struct name name = {.length = 0};
    bool has_pid;
    expand(pattern, &name, &has_pid);
    if (name.overflow || !name.length) {
        err_set(err, ERR_USAGE, "GPUMEMTRACE_OUTPUT is %s", name.length ? "too long" : "empty");
        return -1;
    }
    const char *other = other_than_file(name.text);
    if (other) {
        err_set(err, ERR_USAGE, "GPUMEMTRACE_OUTPUT is %s: %.300s; name a file", other, name.text);
        return -1;
    }
    for (unsigned number = 1; number < NAMES_TRIED; number++) {
        const int length = numbered(name.text, number, path, path_bytes);
        if (length < 0 || (size_t)length >= path_bytes)
            break;
        int failed = make_file(path);
        if (failed && errno == EEXIST && number == 1 && !has_pid) {
            failed = remove_finished(path, run_id) ? make_file(path) : -1;
            errno = EEXIST;
        }
        if (!failed && !make_absolute(path, path_bytes))
            return 0;
        if (errno != EEXIST) {
            err_set(err, ERR_SYSTEM, "cannot create %s: %s", path, strerror(errno));
            return -1;
        }
    }
    err_set(err, ERR_SYSTEM, "no free name: %s and its numbered forms exist", name.text);
    return -1;
}
