/* SPDX-License-Identifier: MIT */
/*
 * VMM memory that is bound into multicast objects and sparse arrays. A VMM object lives until its
 * last binding ends, or longer.
 */
#pragma once

#include "vmm.h"

/* A zeroed struct is empty and ready for use. */
struct bindings {
    struct binding *items;
    size_t capacity;
    struct slots slots;
    struct bound_space *spaces;
    size_t space_capacity;
    struct slots space_slots;
    struct pair_map first; /* space, by block of the multicast object or array */
};

void bindings_release(struct bindings *bindings);

int bindings_bind(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks);
int bindings_unbind(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks);
/* Called when a block has ended. If the block is a multicast object or an array, unbinds everything
 * that is bound into it. */
int bindings_end(struct bindings *bindings, struct vmm *vmm, struct blocks *blocks, uint32_t block);
