/* SPDX-License-Identifier: MIT */
/*
 * What stacks are put together from, as ../setup.c chooses it. It must not know how.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_PARTS_H
#define GPUMEMTRACE_INTERPOSE_STACK_TAKE_STACK_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/stack/native/unwind.h"
#include "stack_source.h"

/* A function that stands for something the program does: a label follows its outermost frame. */
struct labelled_code {
    const char *function, *text;
    struct code_ranges ranges;
    /* Release: ranges are complete when it is seen. */
    _Atomic bool is_found;
};

struct stack_parts {
    const struct unwinder *unwinder;
    const struct stack_source *sources[STACK_SOURCES_MAX];
    unsigned source_count;
    struct labelled_code *label;
    unsigned depth; /* most frames of the unwinder and of each source, STACK_DEPTH_MAX at most */
};

#endif
