/* SPDX-License-Identifier: MIT */
/* The table of memory_rules.h. */
#include "memory_rules.h"

/* Mempools, VMM objects and imports are not bound to a context: they end only by their own calls,
 * even if the context is destroyed. */
const struct memory_rule memory_rules[MEMORY_KIND_COUNT] = {
    [MEMORY_LINEAR] = {SPACE_DEVICE, true},
    [MEMORY_PITCHED] = {SPACE_DEVICE, true},
    [MEMORY_ARRAY] = {SPACE_ARRAY, true},
    [MEMORY_ASYNC] = {SPACE_DEVICE, false},
    [MEMORY_VMM] = {SPACE_HANDLE, false},
    [MEMORY_MANAGED] = {SPACE_DEVICE, true},
    [MEMORY_PINNED] = {SPACE_HOST, true},
    [MEMORY_REGISTERED] = {SPACE_HOST, true},
    [MEMORY_IMPORTED] = {SPACE_DEVICE, false},
    [MEMORY_TENSOR] = {SPACE_FRAMEWORK_POOL, false},
    [MEMORY_VMM_HOST] = {SPACE_HANDLE, false},
    [MEMORY_ASYNC_HOST] = {SPACE_DEVICE, false},
    [MEMORY_ASYNC_MANAGED] = {SPACE_DEVICE, false},
    [MEMORY_IMPORTED_VMM] = {SPACE_HANDLE, false},
    [MEMORY_EXTERNAL] = {SPACE_EXTERNAL, false},
    [MEMORY_GRAPH] = {SPACE_GRAPH, false},
    [MEMORY_GRAPH_NODE] = {SPACE_GRAPH_NODE, false},
    [MEMORY_RESERVATION] = {SPACE_RESERVATION, false},
    [MEMORY_MAPPED] = {SPACE_DEVICE, false},
    [MEMORY_MAPPED_ARRAY] = {SPACE_ARRAY, false},
    [MEMORY_MULTICAST] = {SPACE_HANDLE, false},
    [MEMORY_MODULE] = {SPACE_MODULE, true},
    [MEMORY_LIMIT] = {SPACE_LIMIT, true},
};
