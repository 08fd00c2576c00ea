/* SPDX-License-Identifier: MIT */
/*
 * The rows of a document's list "checks", for the formats that say nothing else: each has name, passed
 * and message, and where a line of the program is to blame, file and line. It must not know any format.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_CHECKS_H
#define GPUMEMTRACE_ANALYZER_RENDER_CHECKS_H

#include "doc.h"

struct checks {
    const struct doc_node
        *first;                 /* of the list's children, of which objects are rows; NULL: none */
    size_t count, broken_count; /* of the rows */
};

/* -1 and *err, which names the format: the document has no such list. */
int checks_find(struct checks *checks, const struct doc *doc, const char *format, struct err *err);
/* "" where the row has no such field, or no value. */
const char *checks_text(const struct doc_node *row, const char *key);
bool checks_passed(const struct doc_node *row);
/* 0: no line is known. */
int64_t checks_line(const struct doc_node *row);

#endif
