/* SPDX-License-Identifier: MIT */
/*
 * Finds the interpreter of this process among the loaded objects, once it runs.
 *
 *     unknown ──an object exports an interpreter, and it runs──┬──► known
 *        │                                                     └──► refused, with a line on stderr
 *        └── no such object: looked for again when the loader's list has changed
 */
#pragma once

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
    /* Up to Python 3.11, returns the state of the thread that holds the GIL, which may be another
     * thread. Since 3.12, returns the state of the calling thread. */
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

/* The chosen interpreter; NULL: none yet. Load it with acquire, so that a reader that sees the
 * pointer also sees the complete struct. */
extern _Atomic(const struct python *) python_known;

/* Chooses the interpreter if it already runs. Returns NULL if no interpreter runs yet, or if the
 * interpreter cannot be read. */
const struct python *python_find(void);

/* Returns the machine code of the interpreter loop. It is empty if the loop is unknown or if there
 * is no interpreter. */
const struct code_ranges *python_loop(void);

/* Does this range of addresses contain an interpreter? */
bool python_calls(uintptr_t start, uintptr_t end);
