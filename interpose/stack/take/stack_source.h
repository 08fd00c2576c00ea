/* SPDX-License-Identifier: MIT */
/*
 * A source of frames that no unwinder sees: an interpreter's. What it has to offer so that its
 * frames become part of a call's stack; the recipe stands in ../sources.def. It must not know any
 * source.
 *
 *     walk() fills   | frame | frame | RUN_END | frame | RUN_END | …    innermost first
 *                      run by the inner loop     by the outer one
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_SOURCE_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "frame_tree.h"
#include "interpose/stack/native/code_ranges.h"
#include "interpose/stack/native/limits.h"

struct dl_phdr_info;

#define SOURCE_ITEMS_MAX (2 * STACK_DEPTH_MAX)
#define SOURCE_RUN_END 0

/* The frames of one thread, as frame_word() makes them, and the ends of runs. */
struct source_frames {
    unsigned count;     /* items */
    unsigned run_count; /* those of them that are SOURCE_RUN_END */
    bool whole;         /* the outermost frame is among them */
    bool outer;         /* of the interpreter the thread began with; another may run inside it */
    uint64_t items[SOURCE_ITEMS_MAX];
};

struct stack_source {
    const char *name; /* GPUMEMTRACE_STACKS=name takes the frames of this source alone */
    /* Separates its frames from the native ones where it is not known which lie between which. */
    const char *unplaced_label;
    /* Before a trace starts; nothing of an earlier trace is used again. */
    void (*setup)(void);
    /* Asked about every object of the loader's list; true: it is an interpreter not met before. */
    bool (*meet)(const struct dl_phdr_info *info);
    /* Is it known which interpreter is read, or that none will be? */
    bool (*is_settled)(void);
    /* The calling thread's frames, at most `limit`. Callable from a hook: no malloc, and a lock
     * only for what was not seen before. */
    void (*walk)(struct thread *thread, struct source_frames *frames, unsigned limit);
    /* The machine code of the interpreter's loop: each of its native frames ran one run. Empty: not
     * known. loop NULL: there is no loop, and the frames lie outside of all native ones. */
    const struct code_ranges *(*loop)(void);
};

#endif
