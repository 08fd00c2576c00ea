/* SPDX-License-Identifier: MIT */
/* The page of `run --vary`: the largest value that fits, and every run. It must not search. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_FIX_LARGEST_H
#define GPUMEMTRACE_ANALYZER_PAGE_FIX_LARGEST_H

#include "analyzer/fix/largest.h"
#include "analyzer/render/doc.h"

struct page_largest_options {
    const char *card; /* as it was asked for */
    bool is_kept;     /* the traces of the runs */
    int stopped_by;   /* a signal; 0: none */
};

/* NULL: out of memory. The caller frees it. */
struct doc *page_largest(enum doc_level reads, const struct fix *fix, const struct largest *largest,
                         const struct page_largest_options *own);

#endif
