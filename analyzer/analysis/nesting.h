/* SPDX-License-Identifier: MIT */
/*
 * Finds the hooked call that each nested event happened in. For example, the first cudaMalloc makes
 * a context, and the context loads modules. Watches the replay and keeps the nested events.
 */
#pragma once

#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

struct nested_call {
    uint64_t seq; /* 0: not recorded */
    uint16_t hook_id, call_id;
};

struct nested {
    struct nested_call own, parent;
    uint8_t kind;
    uint32_t waiting; /* previous nested event of the thread whose call is still unknown */
};

/* Zeroed is empty and ready for use. */
struct nesting {
    struct nested *items; /* in event order, without memory samples */
    size_t count, capacity;
    struct nesting_thread *threads;
    size_t thread_count, thread_capacity;
    struct pair_map by_id;
};

struct observer nesting_observer(struct nesting *nesting);
void nesting_release(struct nesting *nesting);
