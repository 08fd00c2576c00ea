/* SPDX-License-Identifier: MIT */
/*
 * The verdict is the first thing that a page says: four short lines at most, one for each role, in
 * the order of the roles. The first sentence that is said is always a "what".
 *
 *     Out of memory, and the program died: train.py:88 forward asked for 2.00 GiB.
 *     Why: Exhausted: the card had 0.31 GiB of 16.00 GiB free.
 *     Who: 11.20 GiB live tensors, most by train.py:61 encode (3.20 GiB).
 *     Do: Would have helped: half the batch: 4.10 GiB of 15.60 GiB.
 *
 * A page says its sentences in the order of their weight. The first of each role is in the verdict.
 * The others, and all that follow a second "what", stand below it.
 *
 * A document has the verdict twice: in "answer", a list of texts, and with their roles in
 * "verdict". The other sentences are in "more".
 */
#pragma once

#include "analyzer/render/doc.h"
#include "analyzer/util/text_list.h"

enum verdict_role {
    VERDICT_what, /* the finding: out of memory, a leak, a peak; its line and its bytes */
    VERDICT_why,  /* the cause, or the reason why no cause is known */
    VERDICT_who,  /* who holds the memory: a line, a process, a rank */
    VERDICT_do,   /* an action that helps; with its gain, if it is known */
    VERDICT_ROLES
};

/* A "what" is one clause, of at most so many characters if file names have at most 20. */
enum { VERDICT_WHAT_CHARACTERS = 100, VERDICT_NAME_BYTES = 1024 };

struct verdict {
    struct text_list texts;
    enum verdict_role *roles; /* one for each text */
    size_t capacity;          /* of roles */
    bool is_incomplete;       /* memory ran out for a sentence */
};

/* Adds a sentence. If memory runs out, verdict_write reports it, so that no caller has to. */
void verdict_say(struct verdict *verdict, enum verdict_role role, const char *format, ...)
    GMT_PRINTF(3, 4);
void verdict_vsay(struct verdict *verdict, enum verdict_role role, const char *format,
                  va_list arguments) GMT_PRINTF(3, 0);
/* Adds a clause, without a capital or a full stop, to the first sentence of this role since the
 * last "what": "Exhausted: the card was full; the requests of this line grew 11 times." If there is
 * no such sentence, or it has a semicolon already, the clause becomes a sentence. */
void verdict_join(struct verdict *verdict, enum verdict_role role, const char *clause);
/* Shortens a name to so many characters. Its end is cut, because "train.py:88 forward" ends with
 * the function. The line is never cut. */
const char *verdict_fit(char out[VERDICT_NAME_BYTES], const char *name, size_t characters);
/* The same as an argument of a sentence; the text lives until the end of the block. */
#define FIT_TEXT(name, characters) verdict_fit((char[VERDICT_NAME_BYTES]){""}, name, characters)
/* Returns the index of the sentence that has this role in the verdict. SIZE_MAX: there is none. */
size_t verdict_find(const struct verdict *verdict, enum verdict_role role);
void verdict_release(struct verdict *verdict);

/* Writes the verdict into the document, then the command to run next (NULL: none), then the other
 * sentences. If next_is_whole is set, text does not wrap the command. */
void verdict_write(struct doc *doc, const struct verdict *verdict, const char *next,
                   bool next_is_whole);
/* Writes the verdict of a page that never has a command to run next, and releases it. */
void verdict_finish(struct doc *doc, struct verdict *verdict);
