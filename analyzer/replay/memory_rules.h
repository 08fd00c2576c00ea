/* SPDX-License-Identifier: MIT */
/*
 * What the replay does with each kind of memory: in which address space it looks for a block, and
 * whether the block ends with its context. It must not know events.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_RULES_H
#define GPUMEMTRACE_ANALYZER_REPLAY_MEMORY_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/event.h"

/* Equal addresses in different spaces are different memory. */
enum address_space {
    SPACE_NONE,
    SPACE_DEVICE, /* one for all devices and imports: addresses are unified */
    SPACE_ARRAY,
    SPACE_HOST,
    SPACE_HANDLE, /* of VMM objects; see vmm.h */
    SPACE_EXTERNAL,
    SPACE_RESERVATION,
    SPACE_GRAPH_NODE, /* known addresses without blocks: each launch allocates them anew */
    SPACE_GRAPH,      /* address: DEVICE_SLOT */
    SPACE_MODULE,
    SPACE_LIMIT,          /* address: see modules.c */
    SPACE_FRAMEWORK_POOL, /* + string id of the framework's pool; must stay last */
};

struct memory_rule {
    uint8_t space; /* enum address_space */
    bool is_bound; /* to a context, and ends when that is destroyed */
};
extern const struct memory_rule memory_rules[MEMORY_KIND_COUNT];

#endif
