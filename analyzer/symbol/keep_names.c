/* SPDX-License-Identifier: MIT */
/* See keep_names.h. */
#include "keep_names.h"

#include <string.h>
#include <unistd.h>

#include "all_names.h"

static bool has_native_frames(const struct trace *trace)
{
    for (size_t id = 1; id < trace->frame_limit; id++)
        if (trace->frames[id].present && trace->frames[id].kind == FRAME_NATIVE)
            return true;
    return false;
}

/* Of those that frames lie in; [vdso] has no file. */
static bool all_files_are_found(const struct trace *trace, const struct symbols *symbols,
                                const struct all_names *names)
{
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct name_counts *counts = &names->by_module[i];

        if (trace->modules[i].path[0] == '/' &&
            counts->with_line + counts->with_function + counts->without_name &&
            strcmp(symbols_file_state(symbols, &trace->modules[i]), "found") != 0)
            return false;
    }
    return true;
}

int keep_names(const struct trace *trace, struct symbols *symbols, struct err *err)
{
    struct err unwritten;
    struct all_names names;

    if (trace->symbol_count || trace->recording || access(trace->path, W_OK) ||
        !has_native_frames(trace))
        return 0;
    if (all_names_collect(&names, trace, symbols, err))
        return -1;
    if (names.count && all_files_are_found(trace, symbols, &names))
        (void)write_symbol_names(trace, names.items, names.count, &unwritten);
    all_names_release(&names);
    return 0;
}
