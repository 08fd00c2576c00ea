/* SPDX-License-Identifier: MIT */
/* Every format of an export, as a table; formats.def. It must not know what one writes. */
#ifndef GPUMEMTRACE_ANALYZER_EXPORT_FORMATS_H
#define GPUMEMTRACE_ANALYZER_EXPORT_FORMATS_H

#include "export.h"

/* "collapsed|speedscope|…": the names, as an option's argument. */
extern const char *const export_names;
/* The same with what each is, as an option's text. */
extern const char *const export_summaries;

/* NULL: there is no such format. */
const struct export_format *export_format_find(const char *name);

#endif
