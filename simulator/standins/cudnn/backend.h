/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of cuDNN's graph interface: each is a type and the attributes that were set. A descriptor shares its
 * contents with those it was given to or read into, so it may be destroyed before them. It must not
 * know what attributes mean; graph.c does.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_BACKEND_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

/* cudnnBackendDescriptorType_t: those whose attributes are computed here. */
enum backend_type {
    BACKEND_ENGINE = 2,
    BACKEND_ENGINE_CONFIG = 3,
    BACKEND_HEURISTICS = 4,
    BACKEND_PLAN = 5,
    BACKEND_CONVOLUTION_FORWARD = 10,
    BACKEND_CONVOLUTION_BACKWARD_FILTER = 11,
    BACKEND_CONVOLUTION_BACKWARD_DATA = 12,
    BACKEND_GRAPH = 15,
};

/* cudnnBackendAttributeType_t: those whose elements are not of the size of an enum, and notes. */
enum backend_attribute_type {
    BACKEND_HANDLE = 0,
    BACKEND_BOOLEAN = 2,
    BACKEND_INT64 = 3,
    BACKEND_DOUBLE = 5,
    BACKEND_POINTER = 6,
    BACKEND_NUMERICAL_NOTE = 11,
    BACKEND_DESCRIPTOR = 15,
    BACKEND_CHAR = 24,
    BACKEND_FRACTION = 26,
};

struct contents;

int contents_type(const struct contents *contents);

/* New contents that nobody will finalize, with one reference; NULL: no memory. */
struct contents *contents_new_final(int type);
void contents_release(struct contents *contents);

/* Adds an attribute, or sets it anew: count elements of this type; of descriptors their contents, of which it keeps
 * references of its own. 0; -1: no memory. */
int contents_set(struct contents *contents, int name, int type, int64_t count,
                 const void *elements);

/* Element index of an attribute of whole numbers or of an enum; not_found if there is none. */
int64_t contents_number(const struct contents *contents, int name, int64_t index,
                        int64_t not_found);

/* The index-th descriptor of an attribute; NULL: no such. Borrowed. */
struct contents *contents_descriptor(const struct contents *contents, int name, int64_t index);

#endif
