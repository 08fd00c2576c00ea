/* SPDX-License-Identifier: MIT */
/*
 * The one frame of a stack that names an allocation. Which of the program's lines that is, among
 * other stacks, decides blame.h. It must not know how stacks are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_STACK_SITE_H
#define GPUMEMTRACE_ANALYZER_BLAME_STACK_SITE_H

#include "analyzer/symbol/symbols.h"

#define STACK_SITE_COMPILED "compiled code"

struct stack_site {
    struct symbol_frame frame;
    int depth;          /* which frame of the walk it is, from 0 */
    bool is_found;      /* false: there is no stack */
    bool is_of_program; /* false: nothing in the stack is; the frame says what there is instead */
    /*
     * What that line called: the program's next function on the way to the allocation, else what was
     * compiled for it, else a framework's; NULL: none of these.
     */
    const char *called;
    /* "MmBackward0" of "torch::autograd::generated::MmBackward0::apply", where nothing is the
     * program's; NULL: none. Not terminated. */
    const char *operator;
    int operator_length;
};

/*
 * label_frame is a frame of the program in that stack, which the innermost that equals it is then. NULL: a
 * label, else the first frame of the program without a name, else the outermost of a framework, else
 * the outermost of all.
 */
int stack_site_find(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                    const struct symbol_frame *label_frame, struct err *err);

/* "train.py:88 forward", "forward (train)", "libfoo.so+0x12", "MmBackward0, backward (autograd)". */
#define STACK_SITE_TEXT_BYTES 384
const char *stack_site_text(const struct stack_site *site, char buffer[STACK_SITE_TEXT_BYTES]);

/* "libfoo.so" of "/usr/lib/libfoo.so". */
const char *stack_base_name(const char *path);

/* As much of a function's name as a line holds: "at::native::…" for a long one. */
#define STACK_FUNCTION_BYTES 128
const char *stack_function_text(const char *function, char buffer[STACK_FUNCTION_BYTES]);

#endif
