/* SPDX-License-Identifier: MIT */
/*
 * Who is to blame for memory, as a person would say it: the one line that stands for each stack of a
 * set. It is the line of the program's own code that the fewest call paths in the set
 * share; so a helper that all rows go through labels none of them. Of several lines that are shared
 * alike it is the one nearest to the allocation, but one further out where a function between them is
 * called by several functions, and one of a source file rather than of a header. An allocator's
 * wrapper (wrappers.def) labels nothing while there is another frame.
 *
 * Where nothing in a stack is the program's, its operator stands for it ("MmBackward0, backward
 * (autograd)"; "MmBackward0 of train.py:88 forward" where the forward operator's stack is known), a label, else a frame of the framework; see stack_site.h.
 *
 *     struct blame blame = {0};
 *     if (blame_stacks(&blame, study->symbols, stacks, count, err)) …
 *     blame_of(&blame, stack_id)->label         "train.py:88 forward", for a sentence
 *     blame_of(&blame, stack_id)->text          "train.py:88 forward, in Linear.forward", for a row
 *     blame_release(&blame);
 *
 * Stacks whose text is the same are one row. It must not know bytes, nor how rows are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_BLAME_H
#define GPUMEMTRACE_ANALYZER_BLAME_BLAME_H

#include "call_paths.h"
#include "stack_site.h"

/* A stack, and for what a backward allocates that of its forward operator; 0: not known, or none. */
struct blame_stack {
    uint32_t stack_id, forward_stack_id;
};

struct blamed {
    uint32_t stack_id, forward_stack_id;
    const char *label, *text; /* valid until blame_release */
    uint32_t label_number;    /* equal label, equal number; from 0 in the order of the stacks */
    uint32_t row;             /* equal text, equal row; from 0 in the order of the stacks */
    uint32_t path;            /* of blame.paths, CALL_PATH_NONE: nothing is the program's */
    uint32_t forward_path;    /* the same of the forward operator, where path is none */
    const struct symbol_frame *forward; /* the line of forward_path that stands for it, or NULL */
    bool names_line;                    /* the label names a line of the program */
    bool is_known;                      /* false: there is no stack, and the label says so */
    struct stack_site site;
};

struct blame {
    struct call_paths paths;
    struct blamed *items; /* one for each different stack, in the order they were given */
    size_t count, capacity;
    struct pair_map numbers; /* of an item, by both stacks */
    struct text_set texts;   /* by row */
    struct text_set labels;
};

/* Of count stacks, which may be given several times. On -1 nothing has to be released. */
int blame_stacks(struct blame *blame, struct symbols *symbols, const uint32_t *stacks, size_t count,
                 struct err *err);
/* The same where forward operators may be known: "MmBackward0 of train.py:88 forward". */
int blame_backwards(struct blame *blame, struct symbols *symbols, const struct blame_stack *stacks,
                    size_t count, struct err *err);
/* As blame_backwards, but something is said of the first `said` stacks only; the others tell those apart, and
 * have no text and no row. */
int blame_first(struct blame *blame, struct symbols *symbols, const struct blame_stack *stacks,
                size_t count, size_t said, struct err *err);
void blame_release(struct blame *blame);

/* The stack is one of the set. */
const struct blamed *blame_of(const struct blame *blame, uint32_t stack_id);
const struct blamed *blame_of_backward(const struct blame *blame, struct blame_stack stack);

/* Of one stack that stands alone. Returns 1, 0: no stack was taken, as label says then, or -1. */
#define BLAME_TEXT_BYTES (STACK_SITE_TEXT_BYTES + 2 * STACK_FUNCTION_BYTES + 8)
int blame_alone(char label[BLAME_TEXT_BYTES], struct symbols *symbols, struct blame_stack stack,
                struct err *err);

#endif
