/* SPDX-License-Identifier: MIT */
/* A text as a cell of CSV, for whoever writes rows of a table that no document holds. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_CSV_H
#define GPUMEMTRACE_ANALYZER_RENDER_CSV_H

#include <stdio.h>

void csv_put(FILE *out, const char *text);
/* What stands before a text that a spreadsheet would take for a formula: an apostrophe, or "". */
const char *csv_guard(const char *text);

#endif
