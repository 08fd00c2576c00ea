/* SPDX-License-Identifier: MIT */
/* See keep_names.h. */
#include "keep_names.h"

#include <unistd.h>

#include "all_names.h"

/*
 * 1 if the trace has native frames, and the recorded file of each frame exists, except for [vdso],
 * which has no file. 0 otherwise. -1: out of memory.
 */
static int all_files_are_found(const struct trace *trace, struct symbols *symbols, struct err *err)
{
    const struct trace_module *last = NULL;
    int all = 0;
    for (size_t id = 1; id < trace->frame_limit; id++) {
        const struct trace_frame *frame = &trace->frames[id];
        const struct trace_module *module;

        if (!frame->present || frame->kind != FRAME_NATIVE)
            continue;
        all = 1;
        module = trace_module_at(trace, frame->address - 1);
        if (module && module != last && module->path[0] == '/' &&
            (all = symbols_has_file(symbols, module, err)) <= 0)
            return all;
        last = module;
    }
    return all;
}

int keep_names(const struct trace *trace, struct symbols *symbols, struct err *err)
{
    struct err unwritten;
    struct all_names names;
    int found;

    if (trace->symbol_count || trace->recording || access(trace->path, W_OK))
        return 0;
    found = all_files_are_found(trace, symbols, err);
    if (found <= 0)
        return found;
    if (all_names_collect(&names, trace, symbols, err))
        return -1;
    if (names.count)
        (void)write_symbol_names(trace, names.items, names.count, &unwritten);
    all_names_release(&names);
    return 0;
}
