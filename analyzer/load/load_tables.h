/* SPDX-License-Identifier: MIT */
/*
 * Reads every table but event. The SELECTs come from tables.def, so a missing table or column of
 * the format is found before anything is computed.
 */
#pragma once

#include <sqlite3.h>

#include "trace.h"

/* A broken row is ERR_INPUT, and the message names the table and the row. */
int load_tables(struct trace *trace, sqlite3 *db, struct err *err);

/* Tables that grow while the recorder runs, and how many of their rows were read. A zeroed struct
 * means that none were read. */
enum growing_table {
    GROWING_string,
    GROWING_frame,
    GROWING_location,
    GROWING_thread,
    GROWING_module,
    GROWING_TABLES
};
struct table_growth {
    uint64_t rows[GROWING_TABLES];
    bool has_grown[GROWING_TABLES]; /* since the last call */
};

/*
 * Reads changed tables again. Texts with an id keep their address; other pointers may become
 * invalid. Tables that are written only at the end or by a command are not read again.
 */
int load_tables_more(struct trace *trace, sqlite3 *db, struct table_growth *growth,
                     struct err *err);
