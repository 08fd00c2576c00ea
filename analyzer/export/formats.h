/* SPDX-License-Identifier: MIT */
/* The table of export formats (formats.def). */
#pragma once

#include "export.h"

/* The names of all formats, as an option's argument is shown: "collapsed|speedscope|…". */
extern const char *const export_names;
/* The names with a description of each format, as an option's help text. */
extern const char *const export_summaries;

/* Returns NULL if there is no such format. */
const struct export_format *export_format_find(const char *name);
