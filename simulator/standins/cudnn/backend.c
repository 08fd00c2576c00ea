/* SPDX-License-Identifier: MIT */
/* Descriptors of cuDNN's graph interface. See backend.h. cuDNN requires that a descriptor is used
 * by one thread; its contents may be shared among threads. */
#include "backend.h"

#include <stdatomic.h>
#include <string.h>

#include "graph.h"
#include "simulator/standins/standin.h"
#include "status.h"

struct attribute {
    struct attribute *next;
    int name, type;
    int64_t count;
    unsigned char elements[];
};

struct contents {
    /* References: increments are relaxed; the last decrement acquires, so that all uses precede the
     * free. */
    atomic_int references;
    int type;
    bool is_final;
    struct attribute *attributes;
};

struct descriptor {
    struct contents *contents;
};

/* --- contents --- */

static size_t element_bytes(int type)
{
    switch (type) {
    case BACKEND_HANDLE:
    case BACKEND_INT64:
    case BACKEND_DOUBLE:
    case BACKEND_POINTER:
    case BACKEND_DESCRIPTOR:
        return 8;
    case BACKEND_BOOLEAN:
    case BACKEND_CHAR:
        return 1;
    case BACKEND_FRACTION:
        return 16;
    default:
        return 4; /* an enum, float or int32 */
    }
}

static struct contents *contents_new(int type)
{
    struct contents *contents = calloc(1, sizeof *contents);
    if (!contents)
        return NULL;
    atomic_init(&contents->references, 1);
    contents->type = type;
    return contents;
}

struct contents *contents_new_final(int type)
{
    struct contents *contents = contents_new(type);
    if (contents)
        contents->is_final = true;
    return contents;
}

static struct contents *contents_retain(struct contents *contents)
{
    atomic_fetch_add_explicit(&contents->references, 1, memory_order_relaxed);
    return contents;
}

static struct contents **contents_in(const struct attribute *attribute)
{
    return (struct contents **)(uintptr_t)attribute->elements;
}

static void attribute_free(struct attribute *attribute)
{
    for (int64_t i = 0; attribute->type == BACKEND_DESCRIPTOR && i < attribute->count; i++)
        contents_release(contents_in(attribute)[i]);
    free(attribute);
}

void contents_release(struct contents *contents)
{
    if (!contents || atomic_fetch_sub_explicit(&contents->references, 1, memory_order_acq_rel) > 1)
        return;
    for (struct attribute *attribute = contents->attributes, *next; attribute; attribute = next) {
        next = attribute->next;
        attribute_free(attribute);
    }
    free(contents);
}

int contents_type(const struct contents *contents)
{
    return contents->type;
}

static struct attribute *find_attribute(const struct contents *contents, int name)
{
    struct attribute *attribute = contents->attributes;
    while (attribute && attribute->name != name)
        attribute = attribute->next;
    return attribute;
}

int contents_set(struct contents *contents, int name, int type, int64_t count, const void *elements)
{
    const size_t bytes = element_bytes(type) * (size_t)count;
    struct attribute *attribute = malloc(sizeof *attribute + bytes);
    if (!attribute)
        return -1;
    *attribute = (struct attribute){.name = name, .type = type, .count = count};
    if (bytes)
        memcpy(attribute->elements, elements, bytes);
    for (int64_t i = 0; type == BACKEND_DESCRIPTOR && i < count; i++)
        contents_retain(contents_in(attribute)[i]);
    for (struct attribute **place = &contents->attributes; *place; place = &(*place)->next) {
        struct attribute *old = *place;
        if (old->name != name)
            continue;
        *place = old->next;
        attribute_free(old);
        break;
    }
    attribute->next = contents->attributes;
    contents->attributes = attribute;
    return 0;
}

int64_t contents_number(const struct contents *contents, int name, int64_t index, int64_t not_found)
{
    const struct attribute *attribute = find_attribute(contents, name);
    int64_t number = not_found;
    int32_t small;
    if (!attribute || index >= attribute->count)
        return not_found;
    const size_t bytes = element_bytes(attribute->type);
    const unsigned char *element = attribute->elements + (size_t)index * bytes;
    if (bytes == sizeof number)
        memcpy(&number, element, sizeof number);
    if (bytes == sizeof small) {
        memcpy(&small, element, sizeof small);
        number = small;
    }
    return number;
}

struct contents *contents_descriptor(const struct contents *contents, int name, int64_t index)
{
    const struct attribute *attribute = find_attribute(contents, name);
    if (!attribute || attribute->type != BACKEND_DESCRIPTOR || index >= attribute->count)
        return NULL;
    return contents_in(attribute)[index];
}

/* --- the interface --- */

STANDIN(int, cudnnBackendCreateDescriptor, (int type, struct descriptor **created))
{
    struct descriptor *descriptor = calloc(1, sizeof *descriptor);
    *created = NULL;
    if (descriptor)
        descriptor->contents = contents_new(type);
    if (!descriptor || !descriptor->contents) {
        free(descriptor);
        return CUDNN_HOST_ALLOCATION_FAILED;
    }
    *created = descriptor;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnBackendDestroyDescriptor, (struct descriptor * descriptor))
{
    if (descriptor)
        contents_release(descriptor->contents);
    free(descriptor);
    return CUDNN_SUCCESS;
}

/* Stores references to the contents of the given descriptors; the descriptors stay the caller's. */
static int set_descriptors(struct contents *contents, int name, int64_t count,
                           struct descriptor *const *descriptors)
{
    struct contents **values = calloc((size_t)count + 1, sizeof(struct contents *));
    int status = values ? CUDNN_SUCCESS : CUDNN_HOST_ALLOCATION_FAILED;
    for (int64_t i = 0; !status && i < count; i++) {
        if (descriptors[i])
            values[i] = descriptors[i]->contents;
        else
            status = CUDNN_BAD_PARAM;
    }
    if (!status && contents_set(contents, name, BACKEND_DESCRIPTOR, count, values))
        status = CUDNN_HOST_ALLOCATION_FAILED;
    free(values);
    return status;
}

STANDIN(int, cudnnBackendSetAttribute,
        (struct descriptor * descriptor, int name, int type, int64_t count, const void *elements))
{
    if (!descriptor || count < 0 || (count && !elements) || descriptor->contents->is_final)
        return CUDNN_BAD_PARAM;
    if (type == BACKEND_DESCRIPTOR)
        return set_descriptors(descriptor->contents, name, count, elements);
    if (contents_set(descriptor->contents, name, type, count, elements))
        return CUDNN_HOST_ALLOCATION_FAILED;
    return CUDNN_SUCCESS;
}

/* Lets the caller's descriptors refer to the contents that the attribute holds. */
static void get_descriptors(const struct attribute *attribute, int64_t count,
                            struct descriptor *const *descriptors)
{
    for (int64_t i = 0; i < count; i++) {
        struct contents *old = descriptors[i]->contents;
        descriptors[i]->contents = contents_retain(contents_in(attribute)[i]);
        contents_release(old);
    }
}

static void get_elements(const struct attribute *attribute, int64_t count, void *elements)
{
    if (attribute->type == BACKEND_DESCRIPTOR)
        get_descriptors(attribute, count, elements);
    else
        memcpy(elements, attribute->elements, (size_t)count * element_bytes(attribute->type));
}

/* *count: the number of elements of the attribute, or of elements written if the caller wants
 * any. */
STANDIN(int, cudnnBackendGetAttribute,
        (const struct descriptor *descriptor, int name, int type, int64_t wanted, int64_t *count,
         void *elements))
{
    if (!descriptor || wanted < 0)
        return CUDNN_BAD_PARAM;
    if (!descriptor->contents->is_final)
        return CUDNN_BAD_PARAM_NOT_FINALIZED;
    const struct attribute *attribute = find_attribute(descriptor->contents, name);
    int64_t found = attribute ? attribute->count : 0;
    if (!attribute && !graph_attribute_is_empty(name))
        return CUDNN_NOT_SUPPORTED;
    if (attribute && attribute->type != type)
        return CUDNN_BAD_PARAM;
    if (elements && found > wanted)
        found = wanted;
    if (elements && found)
        get_elements(attribute, found, elements);
    if (count)
        *count = found;
    return CUDNN_SUCCESS;
}

STANDIN(int, cudnnBackendFinalize, (struct descriptor * descriptor))
{
    if (!descriptor)
        return CUDNN_BAD_PARAM;
    if (descriptor->contents->is_final)
        return CUDNN_SUCCESS;
    const int status = graph_complete(descriptor->contents);
    descriptor->contents->is_final = !status;
    return status;
}

STANDIN(int, cudnnBackendExecute,
        (void *handle, const struct descriptor *plan, const struct descriptor *pack))
{
    (void)handle;
    if (!plan || !pack)
        return CUDNN_BAD_PARAM;
    return plan->contents->is_final && pack->contents->is_final ? CUDNN_SUCCESS
                                                                : CUDNN_BAD_PARAM_NOT_FINALIZED;
}
