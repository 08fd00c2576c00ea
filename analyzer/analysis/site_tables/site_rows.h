/* SPDX-License-Identifier: MIT */
/*
 * Joins sites that are blamed on the same line into one row. Sites without a stack are joined if
 * the texts of their phases and their categories are equal. So "a/b" is one phase, whether phase b
 * ran inside phase a, or one phase has the name "a/b".
 */
#pragma once

#include "analyzer/blame/blame.h"
#include "analyzer/analysis/sites.h"

struct site_row {
    const struct blamed *blamed; /* of its largest site */
    const struct site *largest;
    bool has_more_paths, has_more_categories; /* other sites of the row differ from the largest */
    uint32_t phase;                           /* number of the text of the largest site's phase */
    uint64_t bytes, count;
    size_t stack_count; /* number of call stacks; 0: none */
};

/* Fills `blame` with the labels for the stacks of the sites. Sites without blocks come last, and do
 * not count as call paths. */
int site_rows_blame(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                    struct err *err);
/* Like site_rows_blame, for callers that show only the `said` largest sites, and no rows. */
int site_rows_blame_first(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                          size_t said, struct err *err);
/* Sets *rows to the rows by bytes, descending; the caller frees *rows. Returns their number, or
 * -1. */
int site_rows_of(struct site_row **rows, const struct history *history, const struct sites *sites,
                 const struct blame *blame, struct err *err);
