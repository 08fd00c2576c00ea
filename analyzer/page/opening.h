/* SPDX-License-Identifier: MIT */
/*
 * The opening of a page is the verdict (verdict/verdict.h) and the command to run next. A page's
 * page_answer fills it in, and opening_add writes it into the document.
 *
 *     Out of memory: train.py:88 forward asked for 2.00 GiB.
 *     Why: Exhausted: the card had 0.31 GiB of 16.00 GiB free.
 *     Next: gpumemtrace oom train.db
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/oom/oom_kind.h"
#include "analyzer/render/doc.h"
#include "analyzer/page/verdict/verdict.h"

enum { OPENING_NEXT_BYTES = 512 };

struct opening {
    struct verdict verdict;
    char next[OPENING_NEXT_BYTES]; /* a command and its options, without the trace; "": none */
    bool next_is_whole;            /* the command takes no trace */
    const struct failure *failure; /* the failure that the first sentence is about; NULL: none */
    bool failure_is_of_leak;       /* a leak, or blocks that get larger, were said as its reason */
    bool failure_is_told;          /* a leak, or a step that asked for more, was said */
    bool failure_needs_more;  /* more than all idle memory: no setting of the allocator helps */
    double failed_step_bytes; /* the failed step would have needed them in all; 0: not known */
    struct err *err;          /* the err of the page that is being built */
};

/* The failed allocation that a page opens with. A caller that puts several pages together needs
 * it. */
struct opening_failure {
    enum oom_kind kind;
    int device;
    int64_t unix_ns;
    struct verdict verdict; /* empty: the page opens with something else */
    char *next;
};
void opening_failure_release(struct opening_failure *failure);

/*
 * Opens a page with figures that the page needs anyway. Returns 1 if it said something, 0 if there
 * is nothing to say, and -1 with *err on an error.
 */
typedef int page_answer(struct opening *opening, const struct study *study, const struct view *view,
                        struct err *err);

/* Adds a sentence. Returns 1, like a page_answer that says something. If memory runs out,
 * opening_add reports it. */
int page_say(struct opening *opening, enum verdict_role role, const char *format, ...)
    GMT_PRINTF(3, 4);
/* Adds a clause to a sentence that was said; see verdict_join. Returns 1. */
int page_join(struct opening *opening, enum verdict_role role, const char *format, ...)
    GMT_PRINTF(3, 4);
/* Adds each clause of a text in which "; " separates them. Changes the text. */
int page_join_clauses(struct opening *opening, enum verdict_role role, char *text);
/* Adds the finding of an answer as the reason for what was said, and its first action if `acts` is
 * set. Its other sentences are left out, because they are about another question. */
int page_explain(struct opening *opening, page_answer *answer, bool acts, const struct study *study,
                 const struct view *view, struct err *err);
/* Sets the command to run next, without the trace: "peak --at=oom:1". */
void page_next(struct opening *opening, const char *format, ...) GMT_PRINTF(2, 3);
/* Sets a command that takes no trace: "fix -- python train.py". Returns false if the command is too
 * long. In this case the earlier command stays. */
bool page_next_whole(struct opening *opening, const char *line);

/*
 * Adds "answer", "verdict" and "next", which `answer` fills in. If `answer` is NULL, they are
 * empty. If it says nothing, the page says that no GPU memory was allocated. Fills *failure, unless
 * `failure` is NULL.
 */
int opening_add(struct doc *doc, page_answer *answer, const struct study *study,
                const struct view *view, struct opening_failure *failure, struct err *err);
