/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a file is a trace, without opening it as a database.
 */
#pragma once

#include <stdbool.h>

#include "gpumemtrace/err.h"

#define TRACE_FILE_SUFFIX_BYTES 16 /* "-ring.0", "-wal" and their final 0 */

/* -1: *err says why the file is not a whole trace of a known format. */
int trace_file_check(const char *path, struct err *err);

/* Checks any SQLite file, a trace or not. -1: *err says that its end is missing, or that it is not
 * a SQLite file. */
int trace_file_check_end(const char *path, struct err *err);

/* Does a file named path + suffix exist? */
bool trace_file_has(const char *path, const char *suffix);
