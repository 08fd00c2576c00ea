/* SPDX-License-Identifier: MIT */
/* run_traces_each visits the traces of one run only, not those of older runs, whose processes may
 * have had the same pid. */
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/run/run_traces.h"
#include "tests/unit/unit_test.h"

enum { PID = 4711 };

static char folder[] = "/tmp/run_traces.XXXXXX", pattern[PATH_MAX], seen[PATH_MAX];
static const struct timespec then = {.tv_sec = 1000000}, later = {.tv_sec = 2000000};

static void write_trace(const char *name, int complete, const char *run_id,
                        const struct timespec *written)
{
    const struct timespec times[2] = {*written, *written};
    char path[PATH_MAX], sql[256];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(sql, sizeof sql,
             "CREATE TABLE meta(key, value); INSERT INTO meta VALUES('complete', %d), "
             "('run_id', '%s')",
             complete, run_id);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void take(void *self, const char *path)
{
    (void)self;
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s ", strrchr(path, '/') + 1);
}

TEST(only_complete_traces_of_the_run_are_seen)
{
    const struct run_past run = {.pattern = pattern, .pid = PID, .started = later};
    write_trace("t.1.db", 1, "4711.5", &then); /* of an older process with that pid */
    write_trace("t.2.db", 1, "4711.9", &later);
    write_trace("t.3.db", 1, "47110.9", &later);
    write_trace("t.4.db", 0, "4711.9", &later);
    *seen = '\0';
    run_traces_each(&run, take, NULL);
    assert_string_equal(seen, "t.2.db ");
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(pattern, sizeof pattern, "%s/t.%%p.db", mkdtemp(folder) ? folder : "");
    return 0;
}

static int remove_folder(void **state)
{
    char path[PATH_MAX];
    (void)state;
    for (int i = 1; i <= 4; i++) {
        snprintf(path, sizeof path, "%s/t.%d.db", folder, i);
        unlink(path);
    }
    return rmdir(folder);
}

UNIT_MAIN(make_folder, remove_folder)
