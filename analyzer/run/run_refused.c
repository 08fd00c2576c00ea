/* SPDX-License-Identifier: MIT */
/* See run_refused.h. */
#include "run_refused.h"

#include "gpumemtrace/event.h"
#include "trace/open_database.h"

struct refused {
    bool is_refused;
    uint64_t card_bytes;
};

/* Returns the first column of the only row; 0: no row. */
static int64_t ask(sqlite3 *db, const char *sql, int64_t first, int64_t second)
{
    sqlite3_stmt *select = NULL;
    int64_t answer = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(select, 1, first);
        sqlite3_bind_int64(select, 2, second);
        if (sqlite3_step(select) == SQLITE_ROW)
            answer = sqlite3_column_int64(select, 0);
    }
    sqlite3_finalize(select);
    return answer;
}

static void look_into(void *self, const char *path)
{
    static const char last[] = "SELECT max(seq) FROM event WHERE kind=? AND result<>0";
    static const char later[] = "SELECT 1 FROM event WHERE kind=? AND result=0 AND seq>? LIMIT 1";
    static const char card[] = "SELECT max(total_bytes) FROM device";
    struct refused *refused = self;
    sqlite3 *db = NULL;
    if (!open_database(path, path, SQLITE_OPEN_READONLY, &db, NULL)) {
        const int64_t seq = ask(db, last, EVENT_ALLOC, 0);
        if (seq && !ask(db, later, EVENT_ALLOC, seq)) {
            const uint64_t card_bytes = (uint64_t)ask(db, card, 0, 0);
            refused->is_refused = true;
            if (card_bytes > refused->card_bytes)
                refused->card_bytes = card_bytes;
        }
    }
    sqlite3_close(db);
}

bool run_was_refused(const struct run_past *run, uint64_t *card_bytes)
{
    struct refused refused = {0};
    run_traces_each(run, look_into, &refused);
    *card_bytes = refused.card_bytes;
    return refused.is_refused;
}
