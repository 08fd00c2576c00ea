/* SPDX-License-Identifier: MIT */
/* A hash table of a document's rows by their fields, so that equal rows share their fields: one
 * frame is in many call stacks. */
#pragma once

#include "doc.h"

/* A zeroed set is empty and ready for use. The document owns the fields. */
struct shared_rows {
    const struct doc_node **slots; /* first field of a row; NULL: empty */
    size_t slot_count, count;
};

/* Returns the fields of an earlier equal row. If there is none, remembers and returns `fields`.
 * Texts are compared by pointer, because a document stores equal texts once. Returns NULL if out of
 * memory. */
const struct doc_node *shared_rows_find(struct shared_rows *rows, const struct doc_node *fields);
void shared_rows_release(struct shared_rows *rows);
