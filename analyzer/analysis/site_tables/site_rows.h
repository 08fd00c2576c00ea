/* SPDX-License-Identifier: MIT */
/*
 * Sites as a person reads them: those that the same line is to blame for are one row. Without a stack
 * only phase and category tell them apart, as they read: "a/b" is one phase, whether b ran in a or a
 * phase has that name. It must not know how rows are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_SITE_TABLES_SITE_ROWS_H
#define GPUMEMTRACE_ANALYZER_SITE_TABLES_SITE_ROWS_H

#include "analyzer/blame/blame.h"
#include "analyzer/analysis/sites.h"

struct site_row {
    const struct blamed *blamed; /* of its largest site */
    const struct site *largest;
    bool has_more_paths, has_more_categories; /* than those of the largest site */
    uint32_t phase;                           /* of the largest site, by how it reads */
    uint64_t bytes, count;
    size_t stack_count; /* different call stacks; 0: there is none */
};

static inline struct blame_stack site_stack(const struct site *site)
{
    return (struct blame_stack){site->stack_id, site->forward_stack_id};
}

/* Heads for the stacks of the sites. */
int site_rows_blame(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                    struct err *err);
/* The same, for somebody who reads only the `said` largest, and no rows. */
int site_rows_blame_first(struct blame *blame, struct symbols *symbols, const struct sites *sites,
                          size_t said, struct err *err);
/* The rows, the largest first. *rows is the caller's to free. Returns how many, or -1. */
int site_rows_of(struct site_row **rows, const struct history *history, const struct sites *sites,
                 const struct blame *blame, struct err *err);

#endif
