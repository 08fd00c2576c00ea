/* SPDX-License-Identifier: MIT */
/*
 * A place is a stack without its native frames. The native frames between two Python frames differ
 * from call to call of the same line, because the interpreter specialises its bytecode. So the
 * blocks that one line allocates again and again have many stacks, but one place. A stack without
 * Python frames is a place of its own.
 */
#pragma once

#include "analyzer/load/trace.h"
#include "analyzer/symbol/frame_tree.h"
#include "analyzer/torch/frames.h"

enum { PLACE_ROOT = 0, PLACE_NATIVE = 0 }; /* the root has no frame; location 0 is no line */
#define PLACE_NONE FRAME_TREE_NONE

struct place {
    uint32_t location; /* a location of the trace; PLACE_NATIVE: the stack has no Python frames */
    uint64_t signs;    /* bits of enum torch_meaning, of this frame and its callers */
    bool is_in_constructor; /* this frame, or one of its callers, is in __init__ */
    /* The innermost place of the program's own lines that is in no constructor, because a
     * constructor makes one object by many calls. PLACE_ROOT: there is none. */
    uint32_t maker;
};

struct places {
    const struct trace *trace;
    struct place *items;
    size_t count, capacity;
    struct frame_tree tree; /* a node is a place, and its frame is a location or a native stack */
    uint32_t *of_frame;     /* by frame: the place of its Python frames + 1; 0: not looked up */
};

/* Prepares empty places. The trace must outlive the places. Returns -1 if there is no memory. */
int places_init(struct places *places, const struct trace *trace, struct err *err);
void places_release(struct places *places);

/* Returns the place of a stack, or PLACE_NONE if there is no memory. */
uint32_t places_of(struct places *places, uint32_t stack_id, struct err *err);

/* True if the place, or one of its callers, is at that line. */
bool place_is_under(const struct places *places, uint32_t place, uint32_t location);

/* True if the place, or one of its callers, is `around`. */
bool place_is_in(const struct places *places, uint32_t place, uint32_t around);

/* True if the line is the program's own, not a framework's. */
bool places_line_is_of_program(const struct places *places, uint32_t location);

/* True if any place looked up so far has the sign. */
bool places_have(const struct places *places, enum torch_meaning sign);
