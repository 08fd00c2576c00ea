/* SPDX-License-Identifier: MIT */
/* See run_guesses.h. */
#include "run_guesses.h"

#include "trace/open_database.h"

struct readings {
    bool has_traces, may_have_guessed;
};

static void look_into(void *self, const char *path)
{
    static const char sql[] = "SELECT NOT EXISTS (SELECT 1 FROM framework WHERE name='torch')"
                              " OR EXISTS (SELECT 1 FROM read_back)"
                              " OR EXISTS (SELECT 1 FROM meta WHERE key='dry_run_floats')";
    struct readings *readings = self;
    sqlite3_stmt *select = NULL;
    sqlite3 *db = NULL;
    bool may_have_guessed = true;
    if (!open_database(path, path, SQLITE_OPEN_READONLY, &db, NULL) &&
        sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        may_have_guessed = sqlite3_column_int(select, 0);
    readings->has_traces = true;
    readings->may_have_guessed |= may_have_guessed;
    sqlite3_finalize(select);
    sqlite3_close(db);
}

bool run_read_no_guess(const struct run_past *run)
{
    struct readings readings = {0};
    run_traces_each(run, look_into, &readings);
    return readings.has_traces && !readings.may_have_guessed;
}
