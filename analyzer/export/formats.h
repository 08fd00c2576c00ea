/* SPDX-License-Identifier: MIT */
/* The table of export formats (formats.def). */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_FORMATS_H
#define GPUMEMTRACE_ANALYZER_EXPORT_FORMATS_H

#include "export.h"

/* "collapsed|speedscope|…": the names, as an option's argument. */
extern const char *const export_names;
/* The names with a description each, as an option's text. */
extern const char *const export_summaries;

/* Returns NULL if there is no such format. */
const struct export_format *export_format_find(const char *name);

#endif
