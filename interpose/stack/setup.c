/* SPDX-License-Identifier: MIT */
/*
 * See setup.h.
 */
#include "setup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/recording/log.h"
#include "interpose/stack/native/modules.h"
#include "interpose/stack/take/call_stack.h"
#include "sources.h"

#define DEPTH_DEFAULT 128

static const struct stack_source *const sources[] = {
#define SOURCE(name) &name##_source,
#include "sources.def"
};
#define SOURCE_COUNT (sizeof sources / sizeof *sources)

_Static_assert(SOURCE_COUNT <= STACK_SOURCES_MAX, "native/limits.h gives room for each source");

/* PyTorch's autograd engine, whose threads have no Python frames. */
static struct labelled_code autograd = {
    .function = "_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE",
    .text = "backward (autograd)",
};

static const struct stack_source *source_named(const char *kind)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        if (strcmp(kind, sources[i]->name) == 0)
            return sources[i];
    return NULL;
}

static bool wants_native(const char *kind)
{
    return strcmp(kind, "none") != 0 && !source_named(kind);
}

void stack_load(void)
{
    const char *kind = getenv("GPUMEMTRACE_STACKS");
    if (wants_native(kind ? kind : "all"))
        unwind_load();
}

static void choose_sources(struct stack_parts *parts, const char *kind)
{
    const struct stack_source *only = source_named(kind);
    if (strcmp(kind, "native") == 0 || strcmp(kind, "none") == 0)
        return;
    if (only)
        parts->sources[parts->source_count++] = only;
    for (size_t i = 0; i < SOURCE_COUNT && !only; i++)
        parts->sources[parts->source_count++] = sources[i];
}

static const char *check_kind(const char *kind)
{
#define SOURCE(name) ", " #name
    static const char kinds[] = "all, native, none"
#include "sources.def"
        ;
    if (strcmp(kind, "all") == 0 || strcmp(kind, "native") == 0 || strcmp(kind, "none") == 0 ||
        source_named(kind))
        return kind;
    log_line("GPUMEMTRACE_STACKS=%s is not one of %s; using all", kind, kinds);
    return "all";
}

static unsigned check_depth(uint64_t depth)
{
    if (depth >= 1 && depth <= STACK_DEPTH_MAX)
        return (unsigned)depth;
    log_line("GPUMEMTRACE_DEPTH=%llu is not 1 to %d; using %d", (unsigned long long)depth,
             STACK_DEPTH_MAX, DEPTH_DEFAULT);
    return DEPTH_DEFAULT;
}

int stack_setup(const char *kind, uint64_t depth)
{
    kind = check_kind(kind);
    struct stack_parts parts = {.unwinder = wants_native(kind) ? unwind_choose() : &unwind_none,
                                .label = &autograd,
                                .depth = check_depth(depth)};
    choose_sources(&parts, kind);
    modules_setup();
    call_stack_setup(&parts);
    return frame_tree_setup();
}
