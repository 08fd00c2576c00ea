/* SPDX-License-Identifier: MIT */
/* Writes texts as CSV cells, also for code that writes a table without a document. */
#pragma once

#include <stdio.h>

void csv_put(FILE *out, const char *text);
/* Returns the prefix of a cell: an apostrophe if a spreadsheet would take the text for a formula,
 * and "" for any other text. */
const char *csv_guard(const char *text);
