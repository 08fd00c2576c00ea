/* SPDX-License-Identifier: MIT */
/* The JSON of a document as small as can be, and of a text, for whoever packs them into something else. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_JSON_H
#define GPUMEMTRACE_ANALYZER_RENDER_JSON_H

#include "doc.h"

/*
 * On one line. A column whose differences from value to value take fewer digits is an object of one key, "", that has
 * these in place of the values, the first as it is: {"":[1000,5,0,-2]} stands for [1000,1005,1005,1003].
 */
void json_packed(const struct doc *doc, FILE *out);
void json_quote(FILE *out, const char *string);

#endif
