/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a file is a trace, without opening it as a database. It must not know what it holds.
 */
#ifndef GPUMEMTRACE_TRACE_TRACE_FILE_H
#define GPUMEMTRACE_TRACE_TRACE_FILE_H

#include <stdbool.h>

#include "gpumemtrace/err.h"

#define TRACE_FILE_SUFFIX_BYTES 16 /* "-ring.0", "-wal" and their 0 */

/* -1: *err says what the file is instead of a whole trace of a known format. */
int trace_file_check(const char *path, struct err *err);

/* -1: *err says that the end of a SQLite file, a trace or not, is missing, or that it is none. */
int trace_file_check_end(const char *path, struct err *err);

/* Is there a file whose name is path and this suffix? */
bool trace_file_has(const char *path, const char *suffix);

#endif
