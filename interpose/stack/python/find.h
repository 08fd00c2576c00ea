/* SPDX-License-Identifier: MIT */
/*
 * Finds the interpreter of this process among the loaded objects, once it runs. It must not know
 * frames.
 *
 *     unknown ──an object exports an interpreter, and it runs──┬──► known
 *        │                                                     └──► refused, with a line on stderr
 *        └── no such object: looked for again when the loader's list has changed
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_FIND_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_FIND_H

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/stack/native/code_ranges.h"
#include "layout.h"

struct dl_phdr_info;

typedef void *python_state_function(void);
typedef int python_question_function(void);

struct python {
    struct python_exports exports;
    python_state_function *thread_state; /* the first state that the thread had */
    /* Until 3.11 that of the GIL's holder, whichever thread it is; from 3.12 on the calling
     * thread's. */
    python_state_function *holder_state;
    python_question_function *is_initialized, *is_finalizing;
    struct python_layout layout;
    struct code_ranges loop; /* the interpreter loop's machine code; may be empty */
};

/* Before a trace starts. What was found in an earlier one stays. */
void python_find_setup(void);

/* Is this object an interpreter that was not met before? Asked about every object of the loader. */
bool python_meet(const struct dl_phdr_info *info);

/* Is it known which interpreter is read, or that none will be? */
bool python_is_settled(void);

/* The interpreter that is read; NULL: none has been looked for or found yet. Acquire: complete when it
 * is seen. */
extern _Atomic(const struct python *) python_known;

/* The interpreter to read. NULL: none runs yet, or it cannot be read. */
const struct python *python_find(void);

/* The machine code of the interpreter loop; empty: not known, or no interpreter. */
const struct code_ranges *python_loop(void);

/* Does an interpreter lie in this range of addresses? */
bool python_calls(uintptr_t start, uintptr_t end);

#endif
