/* SPDX-License-Identifier: MIT */
/*
 * Joins sites that are blamed on the same line into one row. Sites without a stack are
 * joined if their phase and category read the same: "a/b" is one phase, whether b ran
 * inside a or a phase has that name.
 */
#ifndef GPUMEMTRACE_ANALYZER_SITE_TABLES_SITE_ROWS_H
#define GPUMEMTRACE_ANALYZER_SITE_TABLES_SITE_ROWS_H

#include "analyzer/blame/blame.h"
#include "analyzer/analysis/sites.h"

struct site_row {
    const struct blamed *blamed; /* of its largest site */
    const struct site *largest;
    bool has_more_paths, has_more_categories; /* the row has others than the largest site's */
    uint32_t phase;                           /* of the largest site, numbered by its text */
    uint64_t bytes, count;
    size_t stack_count; /* number of call stacks; 0: none */
};

static inline struct blame_stack site_stack(const struct site *site)
{
    return (struct blame_stack){site->stack_id, site->forward_stack_id};
}

/* Finds the labels for the stacks of the sites. */
int site_rows_blame(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                    struct err *err);
/* The same, for callers that use only the `said` largest sites, and no rows. */
int site_rows_blame_first(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                          size_t said, struct err *err);
/* The rows by bytes, descending; the caller frees *rows. Returns their number, or -1. */
int site_rows_of(struct site_row **rows, const struct history *history, const struct sites *sites,
                 const struct blame *blame, struct err *err);

#endif
