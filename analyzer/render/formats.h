/* SPDX-License-Identifier: MIT */
/* The table of output formats. It must not know who asks for one. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_FORMATS_H
#define GPUMEMTRACE_ANALYZER_RENDER_FORMATS_H

#include "format.h"

/* NULL and *err (ERR_USAGE, with those that a command with that table prints): no such format. */
const struct format *format_find(const char *name, const char *table, struct err *err);

/* Checks the document, and writes it. Whether all of it arrived need not be looked at. */
int render(const struct doc *doc, const struct format *format, FILE *out, struct err *err);

/* Whether it can say what a command with that table prints; the table may be NULL. */
bool format_takes(const struct format *format, const char *table);
/* Adds "text, json or csv": the formats that can. */
struct text;
void formats_list(struct text *text, const char *table);

#endif
