/* SPDX-License-Identifier: MIT */
/* Requests that a framework can do without; see optional.h. */
#include "optional.h"

#include "analyzer/torch/frames.h"
#include "gpumemtrace/limits.h"

/* The meanings of PyTorch's innermost operator function at that address; 0: none, or it has no
 * name. The result of an operator is not optional, because at::detail::empty_cuda allocates it. */
static uint64_t operators_means(const struct trace *trace, uint64_t address)
{
    size_t count;
    const struct trace_symbol *symbols = trace_symbols(trace, address, &count);
    for (size_t i = 0; symbols && i < count; i++) {
        const uint64_t means = torch_native_means(trace_string(trace, symbols[i].function_id));

        if (torch_is(means, TORCH_aten))
            return means;
    }
    return 0;
}

bool optional_is_asked(const struct trace *trace, uint32_t stack_id)
{
    for (int depth = 0; depth < LIMIT_stack_frames && stack_id < trace->frame_limit; depth++) {
        const struct trace_frame *frame = &trace->frames[stack_id];

        if (!frame->present || frame->kind == FRAME_PYTHON)
            return false;
        const uint64_t means =
            frame->kind == FRAME_NATIVE ? operators_means(trace, frame->address) : 0;
        if (means)
            return torch_is(means, TORCH_optional);
        stack_id = frame->parent_id;
    }
    return false;
}
