/* SPDX-License-Identifier: MIT */
/*
 * Output formats: a struct doc becomes text, JSON, CSV or JUnit XML. It must not know any analysis:
 * everything it writes is in the document.
 *
 * To add a format: one row in formats.def and one file with its function.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_RENDER_H
#define GPUMEMTRACE_ANALYZER_RENDER_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "gpumemtrace/err.h"
#include "doc.h"

struct format {
    const char *name; /* as in --format= */
    /*
     * Writes the whole document. It need not look at write errors, render does; -1 and *err when
     * this document cannot be said in this format.
     */
    int (*write)(const struct doc *doc, FILE *out, struct err *err);
};

#define FORMAT(name, function) int function(const struct doc *doc, FILE *out, struct err *err);
#include "formats.def"

/* NULL and *err (ERR_USAGE, with the formats there are): no such format. */
const struct format *format_find(const char *name, struct err *err);

/* Checks the document, writes it, flushes, and checks that every byte was accepted. */
int render(const struct doc *doc, const char *format, FILE *out, struct err *err);

#endif
