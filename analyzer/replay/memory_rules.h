/* SPDX-License-Identifier: MIT */
/*
 * Rules for each kind of memory: the address space in which a block is found, and whether the block
 * ends with its context.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/event.h"

/* Equal addresses in different spaces are different memory. */
enum address_space {
    SPACE_NONE,
    SPACE_DEVICE, /* all devices and imports: addresses are unified */
    SPACE_ARRAY,
    SPACE_HOST,
    SPACE_HANDLE, /* handles of VMM objects; see vmm.h */
    SPACE_EXTERNAL,
    SPACE_RESERVATION,
    SPACE_GRAPH_NODE, /* known addresses without blocks: each launch allocates them anew */
    SPACE_GRAPH,      /* address: DEVICE_SLOT */
    SPACE_MODULE,
    SPACE_LIMIT,          /* address: see modules.c */
    SPACE_FRAMEWORK_POOL, /* one space for each pool: + the pool's string id; must stay last */
};

struct memory_rule {
    uint8_t space; /* enum address_space */
    bool is_bound; /* belongs to a context, and ends when the context is destroyed */
};
extern const struct memory_rule memory_rules[MEMORY_KIND_COUNT];
