/* SPDX-License-Identifier: MIT */
/*
 * Opening a trace for reading: checks that it is one, and brings in what the ring of a killed
 * process still holds. In a folder that cannot be written the ring is read into a copy and nothing
 * on disk changes. While the recorder still runs, what it has committed is shown: at most a tenth
 * of a second old. It must not know what events mean.
 */
#ifndef GPUMEMTRACE_TRACE_FOLD_H
#define GPUMEMTRACE_TRACE_FOLD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

struct fold_result {
    bool recording; /* the process is alive: the trace will go on growing */
    bool folded;    /* a ring was brought in */
};

/* 0: *db is open and the caller closes it; -1: *err says what the file is instead of a trace. */
int fold_open(const char *path, sqlite3 **db, struct fold_result *result, struct err *err);

#endif
