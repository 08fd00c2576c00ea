/* SPDX-License-Identifier: MIT */
/*
 * The one frame of a stack that names an allocation: the program's own line nearest to it. It must
 * not know how stacks are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STACK_SITE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STACK_SITE_H

#include "analyzer/symbol/symbols.h"

struct stack_site {
    struct symbol_frame frame;
    int depth;          /* which frame of the walk it is, from 0 */
    bool is_found;      /* false: there is no stack */
    bool is_of_program; /* false: nothing in the stack is; the frame says what there is instead */
    const char *called; /* what that line called of a framework: see stack_site_find; may be NULL */
};

/*
 * The first frame of the program that has a name; where there is none, a label, else the first
 * frame of the program without a name, else the outermost of a framework, else the outermost of
 * all.
 */
int stack_site_find(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                    struct err *err);

/* "train.py:88 forward", "forward (train)", "libfoo.so+0x12", "backward (autograd)". */
#define STACK_SITE_TEXT_BYTES 320
const char *stack_site_text(const struct stack_site *site, char buffer[STACK_SITE_TEXT_BYTES]);

/* "libfoo.so" of "/usr/lib/libfoo.so". */
const char *stack_base_name(const char *path);

/* As much of a function's name as a line holds: "at::native::…" for a long one. */
#define STACK_FUNCTION_BYTES 128
const char *stack_function_text(const char *function, char buffer[STACK_FUNCTION_BYTES]);

#endif
