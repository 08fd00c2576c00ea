/* SPDX-License-Identifier: MIT */
/*
 * One output format is one row of formats.def: a function that writes a document, and the levels of
 * nodes that the format reads. A format computes nothing: everything that it writes is in the
 * document.
 *
 *     page (struct doc) → format.write → text | JSON | CSV | JUnit
 *
 * To add a format: ONE row in formats.def and one file with its function.
 */
#pragma once

#include <stdio.h>

#include "gpumemtrace/err.h"
#include "doc.h"

struct format {
    const char *name; /* as in --format= */
    /* Writes the whole document. Write errors need no check here. Returns -1 and *err if the format
     * cannot show this document. */
    int (*write)(const struct doc *doc, FILE *out, struct err *err);
    enum doc_level reads; /* the levels that a document for this format keeps */
    const char *needs;    /* key of the only table that it can show; NULL: any, or none */
};

#define FORMAT(name, function, reads, needs)                                                       \
    int function(const struct doc *doc, FILE *out, struct err *err);
#include "formats.def"
