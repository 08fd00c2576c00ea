/* SPDX-License-Identifier: MIT */
/*
 * The call path of an allocation: the program's own frames of a stack,
 * without those of frameworks, interpreters and runtimes. The paths of many stacks are one tree, from
 * the outermost frame inwards; a line of a file is one place. It must not know bytes.
 *
 *     main ── train_step ─┬─ compute_loss ── floats ── tensor_new      path: a node, and its way out
 *                         └─ floats ── tensor_new                      place: the line it stands for
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
    bool is_header;   /* of a file that others include: more likely a helper */
};

struct call_path {
    uint32_t place,
        outer; /* outer: a path of a lower number, CALL_PATH_NONE: it is the outermost */
};

/* Zeroed is empty and ready for use. */
struct call_paths {
    struct text_set texts,
        keys; /* what is said of places; what tells them apart: the file's path, too */
    struct call_place *places; /* by number of the key */
    size_t place_count, place_capacity;
    struct pair_map by_frame; /* the last place of a line and a pointer to a function's name */
    struct call_path *items;
    size_t count, capacity;
    struct pair_map numbers; /* of a path, by its outer one and its place */
    uint32_t *walked;        /* places of the stack that is being added */
    size_t walked_capacity;
};

/*
 * Adds a stack: *path is that of its innermost frame. Frames without names count only where none has
 * one and there is no label. CALL_PATH_NONE: nothing in the stack is the program's.
 */
int call_paths_add(struct call_paths *paths, struct symbols *symbols, uint32_t stack_id,
                   uint32_t *path, struct err *err);
/* Of wrappers.def; and of a file that others include, NULL: not known. */
bool call_is_wrapper(const char *function);
bool call_is_header(const char *file);

void call_paths_release(struct call_paths *paths);

#endif
