/* SPDX-License-Identifier: MIT */
/*
 * Loads the tables of a trace file. First it folds in the rings that a killed process left; if the
 * file cannot be written, it reads the rings without consuming them.
 */
#pragma once

#include <stdbool.h>

#include "trace.h"

/* A trace file whose rings are folded in. */
struct opened_trace {
    struct sqlite3 *db; /* NULL: not open */
    bool recording;     /* the recorder still runs */
};

/* -1: *err says what is wrong with the file (ERR_INPUT) or the system (ERR_SYSTEM). */
int load_open(struct opened_trace *file, const char *path, struct err *err);
/* Loads an open file. From then on the file belongs to the trace, even if the function returns
 * -1. */
int load_opened(struct trace *trace, const char *path, const struct opened_trace *file,
                struct err *err);
/* Opens the file and loads it. */
int load_trace(struct trace *trace, const char *path, struct err *err);
