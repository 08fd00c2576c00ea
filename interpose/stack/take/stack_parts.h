/* SPDX-License-Identifier: MIT */
/*
 * The unwinder, sources and label that setup.c chose.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/stack/native/unwind.h"
#include "stack_source.h"

/* A function that shows the purpose of a thread. The label is placed after the outermost frame of
 * this function. */
struct labelled_code {
    const char *function, *text;
    struct code_ranges ranges;
    /* Stored with release, so a reader that sees true also sees the complete ranges. */
    _Atomic bool is_found;
};

struct stack_parts {
    const struct unwinder *unwinder;
    const struct stack_source *sources[STACK_SOURCES_MAX];
    unsigned source_count;
    struct labelled_code *label;
    unsigned depth; /* limit for the unwinder and each source; at most STACK_DEPTH_MAX */
};
