/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace for reading. Checks that the file is a trace, and folds in the events that a killed
 * process left in its ring. If the folder cannot be written, the ring is read into a copy, and
 * nothing on disk changes. While the recorder runs, the trace has what the recorder has committed,
 * which is at most a tenth of a second old.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct fold_result {
    bool recording; /* the process is alive, so the trace still grows */
    bool folded;    /* a ring was folded in */
};

/* 0: *db is open, and the caller closes it. -1: *err says why the file cannot be read as a
 * trace. */
int fold_open(const char *path, sqlite3 **db, struct fold_result *result, struct err *err);
