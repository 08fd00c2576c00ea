/* SPDX-License-Identifier: MIT */
/*
 * Finds the one frame of a stack that names an allocation. blame.h chooses the line of the program,
 * and this file finds that line in the stack. If no line is the program's, it finds another frame.
 */
#pragma once

#include "analyzer/symbol/symbols.h"

#define STACK_SITE_COMPILED "compiled code"

struct stack_site {
    struct symbol_frame frame;
    int depth;          /* position of the frame in the walk, from 0 */
    bool is_found;      /* false: there is no stack */
    bool is_of_program; /* false: no frame is the program's, and `frame` is another frame */
    /*
     * The function that this line called. It is the program's next function towards the allocation;
     * if there is none, "compiled code" or a framework's function. NULL: there is none of these.
     */
    const char *called;
    /*
     * If no frame is the program's: "MmBackward0" of
     * "torch::autograd::generated::MmBackward0::apply"; NULL: none. Not terminated.
     */
    const char *operator;
    int operator_length;
};

/*
 * Finds the site. label_frame is a frame of the program in that stack; the innermost frame that
 * equals it becomes the site. If label_frame is NULL, the site is the first of these that the stack
 * has: a label, the innermost unnamed frame of the program, the innermost template of the runtime,
 * the outermost frame of a framework, the outermost frame.
 */
int stack_site_find(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                    const struct symbol_frame *label_frame, struct err *err);

/*
 * The text of a site, such as "train.py:88 forward", "forward (train)", "libfoo.so+0x12" or
 * "MmBackward0, backward (autograd)".
 */
#define STACK_SITE_TEXT_BYTES 384
const char *stack_site_text(const struct stack_site *site, char buffer[STACK_SITE_TEXT_BYTES]);

/* The function's name, cut to the length of a line: "at::native::…". */
#define STACK_FUNCTION_BYTES 128
const char *stack_function_text(const char *function, char buffer[STACK_FUNCTION_BYTES]);
