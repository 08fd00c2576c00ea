/* SPDX-License-Identifier: MIT */
/* Requests that a framework can do without; see optional.h. */
#include "optional.h"

#include <string.h>

#include "analyzer/util/glob.h"
#include "gpumemtrace/limits.h"

static const char *const patterns[] = {
#define OPTIONAL(pattern) pattern,
#include "optional.def"
};

static bool matches(const char *function)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (glob_match(patterns[i], function))
            return true;
    return false;
}

/* The innermost PyTorch operator function at that address; NULL: none, or it has no name. */
static const char *operators_function(const struct trace *trace, uint64_t address)
{
    static const char operators[] = "at::";
    size_t count;
    const struct trace_symbol *symbols = trace_symbols(trace, address, &count);

    for (size_t i = 0; symbols && i < count; i++) {
        const char *function = trace_string(trace, symbols[i].function_id);

        if (!strncmp(function, operators, sizeof operators - 1))
            return function;
    }
    return NULL;
}

bool optional_is_asked(const struct trace *trace, uint32_t stack_id)
{
    for (int depth = 0; depth < LIMIT_stack_frames && stack_id < trace->frame_limit; depth++) {
        const struct trace_frame *frame = &trace->frames[stack_id];

        if (!frame->present || frame->kind == FRAME_PYTHON)
            return false;
        const char *function =
            frame->kind == FRAME_NATIVE ? operators_function(trace, frame->address) : NULL;
        if (function)
            return matches(function);
        stack_id = frame->parent_id;
    }
    return false;
}
