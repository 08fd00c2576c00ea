/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of this process, found among the loaded objects once it runs. It must not know
 * frames.
 *
 *     unknown ──an object exports the interpreter, and it runs──► known
 *        │                                                        └──► refused, said once
 *        └── no such object: asked again when the loader's list has changed
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_FIND_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_FIND_H

#include <stdbool.h>

#include "interpose/stack/native/code_ranges.h"
#include "layout.h"

typedef void *python_state_function(void);
typedef int python_question_function(void);

struct python {
    struct python_exports exports;
    python_state_function *thread_state; /* the first that the thread had */
    /* Of the thread that holds the GIL, whichever that is; from 3.12 on of the calling one. */
    python_state_function *holder_state;
    python_question_function *is_initialized, *is_finalizing;
    struct python_layout layout;
    struct code_ranges loop; /* the interpreter loop's machine code; may be empty */
};

/* Before a trace starts. What was found stays. */
void python_find_setup(void);

/* The interpreter to read; NULL: none runs yet, or it is not one to be read. */
const struct python *python_find(void);

#endif
