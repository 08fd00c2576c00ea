/* SPDX-License-Identifier: MIT */
/* Writing a document in one of the formats. It must not know which formats there are. */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_RENDER_H
#define GPUMEMTRACE_ANALYZER_RENDER_RENDER_H

#include "format.h"

/* Checks the document, writes it, flushes, and checks that every byte was accepted. */
int render(const struct doc *doc, const struct format *format, FILE *out, struct err *err);

#endif
