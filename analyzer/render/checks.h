/* SPDX-License-Identifier: MIT */
/* Finds the rows of a document's list "checks", for the formats that show only these rows (junit,
 * github, markdown). A row has the fields name, passed and message. It also has file and line if a
 * line of the program is to blame. */
#pragma once

#include "doc.h"

struct checks {
    const struct doc_node
        *first;                 /* first child of the list; its objects are the rows; NULL: empty */
    size_t count, broken_count; /* numbers of rows */
};

/* Returns -1 and *err, which names the format, if the document has no list "checks". */
int checks_find(struct checks *checks, const struct doc *doc, const char *format, struct err *err);
/* Returns "" if the row has no such field, or if its value is unknown. */
const char *checks_text(const struct doc_node *row, const char *key);
bool checks_passed(const struct doc_node *row);
/* Returns 0 if no line is known. */
int64_t checks_line(const struct doc_node *row);
