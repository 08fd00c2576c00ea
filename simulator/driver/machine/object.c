/* SPDX-License-Identifier: MIT */
/*
 * The registry of handles. See object.h.
 */
#include "object.h"

#include <stdlib.h>

#include "context_state.h"

static struct tree objects;

static struct tree_key key_of(const void *handle)
{
    return (struct tree_key){(uint64_t)(uintptr_t)handle, 0};
}

void *object_new(enum object_kind kind, struct context *context, size_t size_bytes)
{
    struct object *object = calloc(1, size_bytes);
    if (!object)
        return NULL;
    object->kind = kind;
    object->context = context;
    if (context) {
        object->next = context->objects;
        if (object->next)
            object->next->previous = object;
        context->objects = object;
    }
    tree_insert(&objects, &object->by_handle, key_of(object));
    return object;
}

void object_delete(void *handle)
{
    struct object *object = handle;
    if (object->end)
        object->end(object);
    if (object->next)
        object->next->previous = object->previous;
    if (object->previous)
        object->previous->next = object->next;
    else if (object->context)
        object->context->objects = object->next;
    tree_remove(&objects, &object->by_handle);
    free(object);
}

void *object_find(const void *handle, enum object_kind kind)
{
    struct tree_node *node = tree_at_least(&objects, key_of(handle));
    struct object *object = node ? TREE_ENTRY(node, struct object, by_handle) : NULL;
    return object && object == handle && object->kind == kind ? object : NULL;
}

/* Returns the object after this object, of any kind. For NULL, returns the first object. NULL:
 * there is no more object. */
static struct object *object_after(const struct object *object)
{
    struct tree_node *node = tree_at_least(&objects, key_of(object ? object + 1 : NULL));
    return node ? TREE_ENTRY(node, struct object, by_handle) : NULL;
}

void object_for_each(enum object_kind kind, void visit(void *object, void *data), void *data)
{
    for (struct object *object = object_after(NULL); object; object = object_after(object))
        if (object->kind == kind)
            visit(object, data);
}

void *object_find_if(enum object_kind kind, bool is_wanted(const void *object, const void *data),
                     const void *data)
{
    for (struct object *object = object_after(NULL); object; object = object_after(object))
        if (object->kind == kind && is_wanted(object, data))
            return object;
    return NULL;
}

void object_delete_all(struct context *context)
{
    while (context->objects)
        object_delete(context->objects);
}
