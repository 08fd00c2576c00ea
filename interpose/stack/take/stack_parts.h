/* SPDX-License-Identifier: MIT */
/*
 * The unwinder, sources and label that setup.c chose.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_PARTS_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/stack/native/unwind.h"
#include "stack_source.h"

/* A function that shows what a thread does: the label follows its outermost frame. */
struct labelled_code {
    const char *function, *text;
    struct code_ranges ranges;
    /* Release: a reader that sees it sees the ranges complete. */
    _Atomic bool is_found;
};

struct stack_parts {
    const struct unwinder *unwinder;
    const struct stack_source *sources[STACK_SOURCES_MAX];
    unsigned source_count;
    struct labelled_code *label;
    unsigned depth; /* most frames of the unwinder and of each source; at most STACK_DEPTH_MAX */
};

#endif
