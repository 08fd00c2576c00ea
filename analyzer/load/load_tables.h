/* SPDX-License-Identifier: MIT */
/*
 * Reads every table but event. The SELECTs come from tables.def, so that a table or column that the
 * format promises and the file lacks is found before anything is computed. It must not know what
 * events refer to.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_LOAD_TABLES_H
#define GPUMEMTRACE_ANALYZER_LOAD_LOAD_TABLES_H

#include <sqlite3.h>

#include "trace.h"

/* A broken row is ERR_INPUT, which names the table and the row. */
int load_tables(struct trace *trace, sqlite3 *db, struct err *err);

/* Tables that grow while the recorder runs, by how many rows were read. Zeroed: none. */
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

/* Reads again what has changed since load_tables; texts with an id stay where they are, what is behind other
 * pointers may not. The tables that only an end or a command brings are not read again. */
int load_tables_more(struct trace *trace, sqlite3 *db, struct table_growth *growth,
                     struct err *err);

#endif
