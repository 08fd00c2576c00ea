/* SPDX-License-Identifier: MIT */
/*
 * Finds the interpreter of this process among the loaded objects, once it runs.
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
    python_state_function *thread_state; /* returns the first state that the thread had */
    /* Returns the state of the GIL's holder, whichever thread that is, up to 3.11; the calling
     * thread's state since 3.12. */
    python_state_function *holder_state;
    python_question_function *is_initialized, *is_finalizing;
    struct python_layout layout;
    struct code_ranges loop; /* machine code of the interpreter loop; may be empty */
};

/* Call it before a trace starts. An interpreter that was found for an earlier trace stays. */
void python_find_setup(void);

/* Is this object an interpreter that was not met before? Called for every object of the loader's
 * list. */
bool python_meet(const struct dl_phdr_info *info);

/* Is an interpreter chosen, or refused for good? */
bool python_is_settled(void);

/* The chosen interpreter; NULL: none yet. Acquire: a reader that sees it sees it complete. */
extern _Atomic(const struct python *) python_known;

/* Chooses the interpreter if it runs by now. NULL: none runs yet, or it cannot be read. */
const struct python *python_find(void);

/* Machine code of the interpreter loop; empty: unknown, or no interpreter. */
const struct code_ranges *python_loop(void);

/* Does this range of addresses contain an interpreter? */
bool python_calls(uintptr_t start, uintptr_t end);

#endif
