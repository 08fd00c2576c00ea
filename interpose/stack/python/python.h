/* SPDX-License-Identifier: MIT */
/*
 * The Python frames of the calling thread, read without the GIL: a thread inside a hook cannot
 * change its own frames. python_find finds the interpreter among the loaded objects, python reads
 * its frames as python_layouts.def says, python_places turns them into locations. Nothing is called
 * in Python but what only reads a word. It must not know native frames.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_PYTHON_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/stack/native/code_ranges.h"
#include "interpose/recording/thread.h"
#include "interpose/stack/native/limits.h"

struct dl_phdr_info;

/* The frames of one thread, innermost first. */
#define PYTHON_ITEMS_MAX (2 * STACK_DEPTH_MAX)
#define PYTHON_RUN_END 0
struct python_stack {
    unsigned count, runs; /* items, and how many of them are ends */
    bool whole;           /* up to the outermost frame */
    bool outer;           /* of the interpreter the thread began with, though another may run */
    uint64_t items[PYTHON_ITEMS_MAX];
};

/* Before a trace starts; nothing of an earlier one is used again. */
void python_setup(void);

/* Is this object an interpreter that was not met before? To be asked of every object, from
 * dl_iterate_phdr. */
bool python_meet(const struct dl_phdr_info *info);

/* Does an interpreter lie there whose functions may be called? */
bool python_calls(uintptr_t start, uintptr_t end);

/* Is it known which interpreter is read, or that none will be? */
bool python_is_settled(void);

/* The frames of the calling thread, innermost first, `limit` of them at most: location ids, and
 * PYTHON_RUN_END behind the frames that one interpreter loop ran. Callable from a hook: a lock, but
 * no malloc, and only for a place in the code that was not seen before. */
void python_walk(struct thread *thread, struct python_stack *stack, unsigned limit);

/* The machine code of the interpreter loop; empty: not known, or no interpreter. */
const struct code_ranges *python_loop(void);

#endif
