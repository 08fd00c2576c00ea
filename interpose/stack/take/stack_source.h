/* SPDX-License-Identifier: MIT */
/*
 * A source gives frames that no unwinder sees, for example the frames of an interpreter. This
 * struct has the functions that a source must offer. The recipe for a new source is in
 * interpose/stack/sources.def.
 *
 *     walk() fills   | frame | frame | RUN_END | frame | RUN_END | …    innermost first
 *                      run by the inner loop     by the outer one
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "frame_tree.h"
#include "interpose/stack/native/code_ranges.h"
#include "interpose/stack/native/limits.h"

struct dl_phdr_info;

#define SOURCE_ITEMS_MAX (2 * STACK_DEPTH_MAX)
#define SOURCE_RUN_END 0

/* The frames of one thread, which are made by frame_word(), and the ends of runs. */
struct source_frames {
    unsigned count;     /* number of items */
    unsigned run_count; /* number of items that are SOURCE_RUN_END */
    bool whole;         /* the outermost frame is in items */
    bool outer;         /* of the thread's first interpreter; others may run inside */
    uint64_t items[SOURCE_ITEMS_MAX];
};

struct stack_source {
    const char *name; /* GPUMEMTRACE_STACKS=name takes only the frames of this source */
    /* Separates the source's frames from the native ones if their order is unknown. */
    const char *unplaced_label;
    /* Called before a trace starts; forgets all state of an earlier trace. */
    void (*setup)(void);
    /* Called for every object of the loader's list. Returns true if the object is an interpreter
     * not met before. */
    bool (*meet)(const struct dl_phdr_info *info);
    /* Returns true if an interpreter is chosen, or is refused for good. */
    bool (*is_settled)(void);
    /* Takes the calling thread's frames, at most `limit`. Callable from a hook: no malloc, and a
     * lock only for places not seen before. */
    void (*walk)(struct thread *thread, struct source_frames *frames, unsigned limit);
    /* Returns the machine code of the interpreter's loop; empty: it is unknown. Each native frame
     * of the loop ran one run of frames. If the pointer `loop` is NULL, the source has no loop, and
     * its frames lie further out than all native frames. */
    const struct code_ranges *(*loop)(void);
};
