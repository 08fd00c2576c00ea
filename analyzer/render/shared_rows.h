/* SPDX-License-Identifier: MIT */
/*
 * The rows of a document by their fields, so that rows that say the same share them: a frame stands in
 * many call stacks. It must not know where a row stands.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_SHARED_ROWS_H
#define GPUMEMTRACE_ANALYZER_RENDER_SHARED_ROWS_H

#include "doc.h"

/* A zeroed set is empty and ready for use. The fields belong to the document. */
struct shared_rows {
    const struct doc_node **slots; /* first field of a row; NULL: empty */
    size_t slot_count, count;
};

/*
 * The first of the fields that were found before and say the same; else these, which are remembered.
 * Texts of the document are the same where their pointers are. NULL: out of memory.
 */
const struct doc_node *shared_rows_find(struct shared_rows *rows, const struct doc_node *fields);
void shared_rows_release(struct shared_rows *rows);

#endif
