/* SPDX-License-Identifier: MIT */
/*
 * Physical memory objects of the driver's virtual memory management. An object ends when it has no
 * handle, mapping or binding left.
 *
 *     handle  ─┐   several handles may stand for one object,
 *     handle  ─┤   and one handle for several references to it
 *     mapping ─┼──► object ──► block
 *     binding ─┘   in a multicast object or a sparse array, see bindings.h
 */
#pragma once

#include "blocks.h"

struct vmm_object {
    uint32_t block;
    uint32_t references_count, mappings_count, bindings_count;
};

/* A zeroed struct is empty and ready for use. */
struct vmm {
    struct vmm_object *objects;
    size_t object_capacity;
    struct slots object_slots;
    struct vmm_handle *handles;
    size_t handle_capacity;
    struct slots handle_slots;
    struct pair_map by_handle; /* number of the handle */
};

void vmm_release(struct vmm *vmm);

int vmm_alloc(struct vmm *vmm, struct blocks *blocks);
int vmm_free(struct vmm *vmm, struct blocks *blocks);
int vmm_retain(struct vmm *vmm, struct blocks *blocks);
int vmm_map(struct vmm *vmm, struct blocks *blocks);
int vmm_unmap(struct vmm *vmm, struct blocks *blocks);

/* The object of the handle; HISTORY_NONE: unknown. */
uint32_t vmm_object_of(const struct vmm *vmm, uint64_t handle);
/* Ends the object's block if nothing refers to the object any more. */
int vmm_end_if_unused(struct vmm *vmm, struct blocks *blocks, uint32_t object, enum block_end how);
