/* SPDX-License-Identifier: MIT */
/* Collects names of all native frames; see all_names.h. */
#include "all_names.h"

#include <stdlib.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"

struct collector {
    struct all_names *names;
    const struct trace *trace;
    struct symbols *symbols;
    struct pair_map seen;
};

static void count_address(struct collector *collector, uint64_t address,
                          const struct symbol_frame *frame)
{
    const struct trace_module *module = trace_module_at(collector->trace, address - 1);
    struct name_counts *counts[] = {
        &collector->names->total,
        module ? &collector->names->by_module[module - collector->trace->modules] : NULL};
    for (size_t i = 0; i < 2 && counts[i]; i++) {
        counts[i]->with_line += frame->is_named && frame->file;
        counts[i]->with_function += frame->is_named && !frame->file;
        counts[i]->without_name += !frame->is_named;
    }
}

static int add_rows(struct all_names *names, uint64_t address, const struct symbol_frame *frames,
                    size_t count, struct err *err)
{
    for (size_t level = 0; level < count; level++) {
        if (ARRAY_GROW(names->items, names->capacity, names->count, err))
            return -1;
        names->items[names->count++] = (struct symbol_name){.address = address,
                                                            .level = (uint32_t)level,
                                                            .line = frames[level].line,
                                                            .function = frames[level].function,
                                                            .file = frames[level].file};
    }
    return 0;
}

/* Adds the names of one address. *is_signal_return is set as by symbols_find. */
static int add_address(struct collector *collector, uint64_t address, bool *is_signal_return,
                       struct err *err)
{
    size_t count;
    const struct symbol_frame *frames =
        symbols_find(collector->symbols, address, &count, is_signal_return, err);
    if (!frames)
        return -1;
    if (pair_map_get(&collector->seen, 0, address) != PAIR_MAP_NONE)
        return 0;
    count_address(collector, address, &frames[count - 1]);
    if (pair_map_put(&collector->seen, 0, address, 1, err))
        return -1;
    return frames[0].is_named ? add_rows(collector->names, address, frames, count, err) : 0;
}

static int add_frame(struct collector *collector, const struct trace_frame *frame, struct err *err)
{
    const struct trace *trace = collector->trace;
    bool is_signal_return;
    if (!frame->present || frame->kind != FRAME_NATIVE)
        return 0;
    if (add_address(collector, frame->address, &is_signal_return, err))
        return -1;
    if (!is_signal_return || frame->parent_id >= trace->frame_limit)
        return 0;
    frame = &trace->frames[frame->parent_id];
    return frame->present && frame->kind == FRAME_NATIVE
               ? add_address(collector, frame->address + 1, &is_signal_return, err)
               : 0;
}

int all_names_collect(struct all_names *names, const struct trace *trace, struct symbols *symbols,
                      struct err *err)
{
    struct collector collector = {.names = names, .trace = trace, .symbols = symbols};
    int status = 0;
    *names = (struct all_names){.by_module =
                                    array_new(trace->module_count, sizeof *names->by_module, err)};
    if (!names->by_module)
        return -1;
    for (size_t id = 0; id < trace->frame_limit && !status; id++)
        status = add_frame(&collector, &trace->frames[id], err);
    pair_map_release(&collector.seen);
    if (status)
        all_names_release(names);
    return status;
}

void all_names_release(struct all_names *names)
{
    free(names->items);
    free(names->by_module);
    *names = (struct all_names){0};
}
