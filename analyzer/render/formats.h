/* SPDX-License-Identifier: MIT */
/* The table of output formats, and the function that writes a document in one of them. */
#pragma once

#include "format.h"

/* Returns NULL and *err (ERR_USAGE, with the formats for a command with that table) for
 * an unknown name. */
const struct format *format_find(const char *name, const char *table, struct err *err);

/* Checks the document and writes it. The caller checks `out` for write errors. */
int render(const struct doc *doc, const struct format *format, FILE *out, struct err *err);

/* Returns whether the format can show a command with that table; table may be NULL. */
bool format_takes(const struct format *format, const char *table);
/* Adds "text, json or csv": the formats for a command with that table. */
struct text;
void formats_list(struct text *text, const char *table);
