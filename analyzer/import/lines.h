/* SPDX-License-Identifier: MIT */
/* A text file, line by line and part by part, in place. It must not know what a part means. */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_LINES_H
#define GPUMEMTRACE_ANALYZER_IMPORT_LINES_H

#include "source.h"

struct piece { /* of the file; it is not terminated */
    const char *text;
    size_t length;
};

struct lines {
    const struct import_source *source;
    size_t at;       /* behind the current line */
    uint64_t number; /* of the current line, from 1 */
    struct piece line;
};

/* Where text begins: behind the mark of UTF-8 that some programs put before it. */
size_t lines_start(const struct import_source *source);

/* False: there is none left. Its end, also one of Windows, is not in it. */
bool lines_next(struct lines *lines);
/* "FILE: line 7: WHAT". */
int lines_broken(const struct lines *lines, const char *what, struct err *err);

/* Cuts what stands before the byte off the rest, and the byte; all of the rest, where the byte is not in it. */
struct piece piece_cut(struct piece *rest, char byte);
bool piece_is(struct piece piece, const char *text);
/* Digits of base 10 or 16, nothing else; false: it is no such number, or more than most. */
bool piece_number(struct piece piece, unsigned base, uint64_t most, uint64_t *number);

#endif
