/* SPDX-License-Identifier: MIT */
/* Writes a document as compact JSON, and a text as JSON, for code that embeds JSON (HTML,
 * exports). */
#pragma once

#include "doc.h"

/* Writes the document on one line. A column becomes {"":[…]} if the differences of neighbouring
 * values take fewer digits than the values: {"":[1000,5,0,-2]} stands for [1000,1005,1005,1003]. */
void json_packed(const struct doc *doc, FILE *out);
void json_quote(FILE *out, const char *string);
