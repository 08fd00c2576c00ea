/* SPDX-License-Identifier: MIT */
/* The page of `run --vary`: the largest value that fits, and all runs. */
#pragma once

#include "analyzer/fix/largest.h"
#include "analyzer/render/doc.h"

struct page_largest_options {
    const char *card; /* the card as the user gave it */
    bool is_kept;     /* the traces of the runs are kept */
    int stopped_by;   /* the signal that stopped the search; 0: none */
};

/* Builds the document, which the caller frees. Returns NULL if there is no memory. */
struct doc *page_largest(enum doc_level reads, const struct fix *fix, const struct largest *largest,
                         const struct page_largest_options *own);
