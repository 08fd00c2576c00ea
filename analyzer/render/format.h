/* SPDX-License-Identifier: MIT */
/*
 * One output format, a row of formats.def: a function that writes a document, and what it reads of
 * one. It must not know any analysis: everything a format writes is in the document.
 *
 *     page (struct doc) → format.write → text | JSON | CSV | JUnit
 *
 * To add a format: ONE row in formats.def and one file with its function.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_FORMAT_H
#define GPUMEMTRACE_ANALYZER_RENDER_FORMAT_H

#include <stdio.h>

#include "gpumemtrace/err.h"
#include "doc.h"

struct format {
    const char *name; /* as in --format= */
    /*
     * Writes the whole document. It need not look at write errors; -1 and *err when
     * this document cannot be said in this format.
     */
    int (*write)(const struct doc *doc, FILE *out, struct err *err);
    enum doc_level reads; /* what a document for this format holds */
    const char *needs;    /* key of the table that it says; NULL: any, or none */
};

#define FORMAT(name, function, reads, needs)                                                       \
    int function(const struct doc *doc, FILE *out, struct err *err);
#include "formats.def"

#endif
