/* SPDX-License-Identifier: MIT */
/* The parts of "series" that a trace and an estimate have alike, so that one reader draws both; see
 * doc/formats.md. */
#pragma once

#include "analyzer/render/doc.h"

/* The columns of a point. A value that is not known is DOC_COLUMN_NULL. */
enum series_column {
    SERIES_SEQ,
    SERIES_TIME,
    SERIES_STEP,
    SERIES_PHASE, /* index in the list "phases" */
    SERIES_LIVE,
    SERIES_LOWEST,
    SERIES_COLUMNS
};

struct series_columns {
    int64_t *values[SERIES_COLUMNS]; /* NULL: no reader */
};

/* Adds "points" with room for so many, which series_set_point fills in. */
void series_add_points(struct series_columns *columns, struct doc *doc, size_t count);
void series_set_point(const struct series_columns *columns, size_t i,
                      const int64_t point[SERIES_COLUMNS]);
/* Adds "categories", the names that category numbers stand for. */
void series_add_category_names(struct doc *doc);
/* Adds a row of "frames". Line 0: not known. */
void series_add_frame(struct doc *doc, const char *kind, const char *function, const char *file,
                      uint32_t line, const char *role);
