/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace for reading: checks that it is one, and folds in what the ring of a killed process
 * still holds. Where the folder cannot be written, the ring is read into a copy and nothing on disk
 * changes. While the recorder still runs, the trace shows what it has committed, at most a tenth of
 * a second old. It must not know what events mean.
 */
#ifndef GPUMEMTRACE_TRACE_FOLD_H
#define GPUMEMTRACE_TRACE_FOLD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct fold_result {
    bool recording; /* the process is alive: the trace is still growing */
    bool folded;    /* a ring was folded in */
};

/* 0: *db is open, and the caller closes it; -1: *err says why the file cannot be read as a
 * trace. */
int fold_open(const char *path, sqlite3 **db, struct fold_result *result, struct err *err);

#endif
