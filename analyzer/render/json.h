/* SPDX-License-Identifier: MIT */
/* The JSON of a document on one line, for whoever packs it into something else. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_JSON_H
#define GPUMEMTRACE_ANALYZER_RENDER_JSON_H

#include "doc.h"

void json_compact(const struct doc *doc, FILE *out);

#endif
