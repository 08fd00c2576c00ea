/* SPDX-License-Identifier: MIT */
/*
 * Everything the API refers to by a handle. A handle is the address of its struct. A handle that is
 * not registered here, or is of another kind, is invalid and not dereferenced.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include <stdbool.h>

#include "tree.h"

struct context;

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_LIBRARY,
    OBJECT_FUNCTION, /* also a kernel of a library */
    OBJECT_ARRAY,
    OBJECT_MIPMAP,
    OBJECT_POOL,
    OBJECT_PHYSICAL,
    OBJECT_GRAPH,
    OBJECT_GRAPH_NODE,
    OBJECT_GRAPH_EXEC,
    OBJECT_CAPTURE,
    OBJECT_EXTERNAL
};

/* The first member of each struct that has a handle. */
struct object {
    struct tree_node by_handle;
    enum object_kind kind;
    struct context *context; /* its end deletes the object; NULL: no context owns it */
    struct object *next;     /* list of the context's objects */
    struct object *previous;
    void (*end)(void *object); /* releases what the object holds; may be NULL */
};

/* Allocates a struct of size_bytes, which is zero except its first member. NULL: out of memory. */
void *object_new(enum object_kind kind, struct context *context, size_t size_bytes);
void object_delete(void *object);
/* NULL: no object of this kind. */
void *object_find(const void *handle, enum object_kind kind);
/* The first object of this kind for which is_wanted returns true; NULL: none. */
void *object_find_if(enum object_kind kind, bool is_wanted(const void *object, const void *data),
                     const void *data);
void object_for_each(enum object_kind kind, void visit(void *object, void *data), void *data);
/* Deletes all objects of a context. */
void object_delete_all(struct context *context);
