/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of cuDNN's graph interface: each has a type and attributes. Attributes that refer to
 * a descriptor hold its contents, so the descriptor may be destroyed first. graph.c gives
 * attributes their meaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Values of cudnnBackendDescriptorType_t whose attributes are computed here. */
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

/* Values of cudnnBackendAttributeType_t whose elements have another size than an enum, and
 * notes. */
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

/* Creates finalized contents with one reference. NULL: out of memory. */
struct contents *contents_new_final(int type);
void contents_release(struct contents *contents);

/* Adds or replaces an attribute: count elements of this type. For descriptors it stores their
 * contents, with references of its own. 0; -1: out of memory. */
int contents_set(struct contents *contents, int name, int type, int64_t count,
                 const void *elements);

/* The element with this index of an attribute of integers or enums; not_found if there is none. */
int64_t contents_number(const struct contents *contents, int name, int64_t index,
                        int64_t not_found);

/* The contents of the attribute's descriptor with this index; NULL: none. The reference is
 * borrowed. */
struct contents *contents_descriptor(const struct contents *contents, int name, int64_t index);
