/* SPDX-License-Identifier: MIT */
/*
 * The call path of an allocation: the frames of its stack that are the program's own, without the
 * frames of frameworks, interpreters and runtimes. The call paths of many stacks form one tree,
 * from the outermost frame inwards. A place is a line of a file.
 *
 *     main ── train_step ─┬─ compute_loss ── floats ── tensor_new      path: a node of the tree
 *                         └─ floats ── tensor_new                      place: the line of a node
 */
#pragma once

#include "analyzer/symbol/symbols.h"
#include "analyzer/symbol/frame_tree.h"
#include "analyzer/util/text_set.h"

#define CALL_PATH_NONE FRAME_TREE_NONE

struct call_place {
    struct symbol_frame frame;
    const char *text; /* "train.py:88 forward" */
    bool is_header;   /* the line is in a header, so it is more likely a helper */
};

/* A zeroed struct is empty and ready for use. */
struct call_paths {
    struct text_set texts, keys; /* texts of places; keys made of the text and the file's path */
    struct call_place *places;   /* by index of the key */
    size_t place_count, place_capacity;
    struct pair_map by_frame; /* the last place, by line and by pointer to the function's name */
    struct frame_tree tree;   /* a node is a path, and its frame is a place */
    uint32_t *walked;         /* places of the stack that is being added */
    size_t walked_capacity;
};

/*
 * Adds a stack, and sets *path to the path of its innermost frame. Unnamed frames count only if the
 * stack has no named frame and no label. *path is CALL_PATH_NONE if no frame is the program's.
 */
int call_paths_add(struct call_paths *paths, struct symbols *symbols, uint32_t stack_id,
                   uint32_t *path, struct err *err);
/* Returns the place of the path's innermost frame. */
static inline const struct call_place *call_path_place(const struct call_paths *paths,
                                                       uint32_t path)
{
    return &paths->places[paths->tree.nodes[path].frame];
}
/* True for a function of wrappers.def. */
bool call_is_wrapper(const char *function);

void call_paths_release(struct call_paths *paths);
