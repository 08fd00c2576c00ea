/* SPDX-License-Identifier: MIT */
/*
 * What the API knows by a handle: the handle is the address of the struct, and one that is not
 * registered here, or is of another kind, is an invalid handle and never looked into. It must not
 * know what the kinds are for.
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OBJECT_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_OBJECT_H

#include <stdbool.h>

#include "tree.h"

struct context;

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_LIBRARY,
    OBJECT_FUNCTION, /* a kernel is one too */
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

/* The first member of each such struct, so that the handle finds it. */
struct object {
    struct tree_node by_handle;
    enum object_kind kind;
    struct context *context; /* it ends with this one; NULL: with none */
    struct object *next;     /* the context's list; see context.h */
    struct object *previous;
    void (*end)(void *object); /* gives up what it holds; NULL: nothing */
};

/* size_bytes is the whole struct's; all zero but its object. NULL: no host memory. */
void *object_new(enum object_kind kind, struct context *context, size_t size_bytes);
void object_delete(void *object);
/* NULL: no object of this kind. */
void *object_find(const void *handle, enum object_kind kind);
/* The first of this kind that the caller wants; NULL: none. */
void *object_find_if(enum object_kind kind, bool is_wanted(const void *object, const void *data),
                     const void *data);
void object_for_each(enum object_kind kind, void visit(void *object, void *data), void *data);
/* Ends all objects of a context. */
void object_delete_all(struct context *context);

#endif
