/* SPDX-License-Identifier: MIT */
/*
 * The verdict is the first thing that a page says: short sentences, each with a role. The first one
 * is always a "what".
 *
 *     Out of memory, and the program died: train.py:88 forward asked for 2.00 GiB.
 *     Why: Exhausted: the card had 0.31 GiB of 16.00 GiB free.
 *     Who: 11.20 GiB live tensors, most by train.py:61 encode (3.20 GiB).
 *     Do: Would have helped: half the batch: 4.10 GiB of 15.60 GiB.
 *
 * A document has the sentences twice: in "answer", a list of texts, and with their roles in
 * "verdict".
 */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_VERDICT_VERDICT_H
#define GPUMEMTRACE_ANALYZER_PAGE_VERDICT_VERDICT_H

#include "analyzer/render/doc.h"
#include "analyzer/util/text_list.h"

enum verdict_role {
    VERDICT_what, /* the finding: out of memory, a leak, a peak; its line and its bytes */
    VERDICT_why,  /* the cause, or the reason why no cause is known */
    VERDICT_who,  /* who holds the memory: a line, a process, a rank */
    VERDICT_do,   /* an action that helps; with its gain, if it is known */
};

struct verdict {
    struct text_list texts;
    enum verdict_role *roles; /* one for each text */
    size_t capacity;          /* of roles */
};

/* Adds a sentence. Returns 0, or -1 with *err if memory runs out. */
int verdict_say(struct verdict *verdict, struct err *err, enum verdict_role role,
                const char *format, ...) GMT_PRINTF(4, 5);
int verdict_vsay(struct verdict *verdict, struct err *err, enum verdict_role role,
                 const char *format, va_list arguments) GMT_PRINTF(4, 0);
void verdict_release(struct verdict *verdict);

/* Writes the whole verdict into the document. */
void verdict_write(struct doc *doc, const struct verdict *verdict);

/* Does the same, one sentence at a time, for a page that keeps no verdict. */
void verdict_begin(struct doc *doc);
void verdict_add(struct doc *doc, enum verdict_role role, const char *format, ...) GMT_PRINTF(3, 4);
void verdict_end(struct doc *doc);

#endif
