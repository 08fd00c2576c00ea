/* SPDX-License-Identifier: MIT */
/*
 * The call path of an allocation: the program's own frames of a stack, without those of frameworks,
 * interpreters and runtimes. The call paths of many stacks form one tree, from the outermost frame
 * inwards; a place is a line of a file.
 *
 *     main ── train_step ─┬─ compute_loss ── floats ── tensor_new      path: a node of the tree
 *                         └─ floats ── tensor_new                      place: the line of a node
 */
#ifndef GPUMEMTRACE_ANALYZER_BLAME_CALL_PATHS_H
#define GPUMEMTRACE_ANALYZER_BLAME_CALL_PATHS_H

#include "analyzer/symbol/symbols.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/text_set.h"

#define CALL_PATH_NONE UINT32_MAX

struct call_place {
    struct symbol_frame frame;
    const char *text; /* "train.py:88 forward" */
    bool is_header;   /* in a header: more likely a helper */
};

struct call_path {
    uint32_t place, outer; /* outer: a path of a lower number, CALL_PATH_NONE: outermost */
};

/* A zeroed struct is empty and ready for use. */
struct call_paths {
    struct text_set texts, keys; /* texts of places; keys: text and path of the file */
    struct call_place *places;   /* by index of the key */
    size_t place_count, place_capacity;
    struct pair_map by_frame; /* the last place of a line and a pointer to a function's name */
    struct call_path *items;
    size_t count, capacity;
    struct pair_map numbers; /* index of a path, by its outer path and its place */
    uint32_t *walked;        /* places of the stack that is being added */
    size_t walked_capacity;
};

/*
 * Adds a stack; *path is the path of its innermost frame. Unnamed frames count only if the stack
 * has no named frame and no label. CALL_PATH_NONE: no frame is the program's.
 */
int call_paths_add(struct call_paths *paths, struct symbols *symbols, uint32_t stack_id,
                   uint32_t *path, struct err *err);
/* True for a function of wrappers.def. True for a header; file NULL: unknown. */
bool call_is_wrapper(const char *function);
bool call_is_header(const char *file);

void call_paths_release(struct call_paths *paths);

#endif
