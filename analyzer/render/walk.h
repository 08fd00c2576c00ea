/* SPDX-License-Identifier: MIT */
/* Answers questions of formats about a document: is anything visible, is a list a table, what is a
 * value's text? The functions write to no stream. */
#pragma once

#include <stdbool.h>

#include "doc.h"
#include "units.h"

/* Returns whether the node shows anything: a field, a note, or an object or list that holds one. */
bool walk_is_visible(const struct doc_node *node);

/* Returns whether each row of the list is one line: no row holds an object or a list with a
 * heading. Other lists are sequences of sections. */
bool walk_is_table(const struct doc_node *list);

/* Returns the value for people; "-" if unknown. Points into the node or to buffer. */
const char *walk_people_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES]);

/* Returns the value for programs as JSON writes it, except that texts have no quotes. NULL: the
 * value is unknown. */
const char *walk_machine_value(const struct doc_node *field, char buffer[UNITS_TEXT_BYTES]);
