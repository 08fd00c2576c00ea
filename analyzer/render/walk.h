/* SPDX-License-Identifier: MIT */
/*
 * What formats ask of a document: is there anything to see, is this list a table, what does this
 * value read like. It must not write to any stream.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_WALK_H
#define GPUMEMTRACE_ANALYZER_RENDER_WALK_H

#include <stdbool.h>

#include "doc.h"
#include "units.h"

/* Whether there is anything to see: a field, a note, or one of these inside. */
bool walk_is_visible(const struct doc_node *node);

/*
 * Whether each row of the list is one line: no row holds an object or a list with a heading. Other
 * lists are sequences of sections.
 */
bool walk_is_table(const struct doc_node *list);

/* The value for people; "-" when unknown. Points into the node or to buffer. */
const char *walk_people_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES]);

/* The value for machines as JSON writes it, but texts are bare and unknown is NULL. */
const char *walk_machine_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES]);

#endif
