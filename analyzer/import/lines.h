/* SPDX-License-Identifier: MIT */
/* Splits a text file into lines, and lines into pieces, without copying. */
#pragma once

#include "source.h"

struct piece { /* a part of the file, without a 0 at its end */
    const char *text;
    size_t length;
};

struct lines {
    const struct import_source *source;
    size_t at;       /* behind the current line */
    uint64_t number; /* of the current line, from 1 */
    struct piece line;
};

/* Returns where the text begins: behind a UTF-8 byte order mark, which some programs write. */
size_t lines_start(const struct import_source *source);

/* Moves to the next line, without its line end (\n or \r\n). Returns false after the last line. */
bool lines_next(struct lines *lines);
/* Sets *err to "FILE: line 7: WHAT" and returns -1. */
int lines_broken(const struct lines *lines, const char *what, struct err *err);

/* Cuts *rest at the first `byte`. Returns the part before that byte, and *rest becomes the part
 * behind it. If *rest does not contain the byte, returns all of *rest. */
struct piece piece_cut(struct piece *rest, char byte);
bool piece_is(struct piece piece, const char *text);
/* Parses a number of digits in base 10 or 16. Returns false for other characters and for
 * numbers above `most`. */
bool piece_number(struct piece piece, unsigned base, uint64_t most, uint64_t *number);
