/* SPDX-License-Identifier: MIT */
/* Stacks with names; see symbols.h. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "native_names.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

struct symbols {
    const struct trace *trace;
    struct native_names *native;
    uint8_t *location_roles; /* 1 + enum frame_role, by location_id; 0: not computed */
    size_t location_count;   /* of location_roles; the trace may have more by now */
};

struct symbols *symbols_new(const struct trace *trace, struct err *err)
{
    struct symbols *symbols = array_new(1, sizeof *symbols, err);
    if (!symbols)
        return NULL;
    symbols->trace = trace;
    symbols->native = native_names_new(trace, err);
    symbols->location_count = trace->location_limit;
    symbols->location_roles = array_new(trace->location_limit, 1, err);
    if (symbols->native && symbols->location_roles)
        return symbols;
    symbols_free(symbols);
    return NULL;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    native_names_free(symbols->native);
    free(symbols->location_roles);
    free(symbols);
}

int symbols_set_sources(struct symbols *symbols, const struct symbol_sources *sources,
                        struct err *err)
{
    return native_names_set_sources(symbols->native, sources, err);
}

void symbols_prefer_files(struct symbols *symbols)
{
    native_names_prefer_files(symbols->native);
}

const char *symbols_file_state(const struct symbols *symbols, const struct trace_module *module)
{
    return native_names_file_state(symbols->native, module);
}

int symbols_has_file(struct symbols *symbols, const struct trace_module *module, struct err *err)
{
    return native_names_has_file(symbols->native, module, err);
}

struct symbol_gaps symbols_gaps(const struct symbols *symbols)
{
    return native_names_gaps(symbols->native);
}

const struct symbol_frame *symbols_find(struct symbols *symbols, uint64_t address, size_t *count,
                                        bool *is_signal_return, struct err *err)
{
    const struct native_run *run = native_names_find(symbols->native, address, err);
    if (!run)
        return NULL;
    *count = run->count;
    *is_signal_return = run->is_signal_return;
    return native_names_frame(symbols->native, run->first);
}

/* --- walking --- */

/* True if the stack has Python frames or a label, so that no label must be guessed. */
static bool has_python_or_label(const struct trace *trace, uint32_t frame_id)
{
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && frame_id < trace->frame_limit; depth++) {
        const struct trace_frame *frame = &trace->frames[frame_id];
        if (!frame->present || frame->kind != FRAME_NATIVE)
            return frame->present;
        frame_id = frame->parent_id;
    }
    return false;
}

struct symbol_walk symbols_walk_begin(struct symbols *symbols, uint32_t stack_id)
{
    return (struct symbol_walk){.symbols = symbols,
                                .frame_id = stack_id,
                                .wants_no_label = has_python_or_label(symbols->trace, stack_id)};
}

static struct symbol_frame python_frame(struct symbols *symbols, uint64_t location_id)
{
    const struct trace *trace = symbols->trace;
    struct trace_location location = {0};
    struct symbol_frame frame = {.kind = "python", .is_named = true};
    if (location_id < trace->location_limit)
        location = trace->locations[location_id];
    const char *file = trace_string(trace, location.file_id);
    frame.function = trace_string(trace, location.function_id);
    frame.file = *file ? file : NULL;
    frame.line = location.line;
    frame.means = location.means;
    if (location_id >= symbols->location_count) {
        if (location_id < trace->location_limit)
            frame.role = frame_role_of(&frame);
        return frame;
    }
    if (!symbols->location_roles[location_id])
        symbols->location_roles[location_id] = (uint8_t)(1 + frame_role_of(&frame));
    frame.role = symbols->location_roles[location_id] - 1;
    return frame;
}

static struct symbol_frame label_frame(const char *text)
{
    return (struct symbol_frame){.kind = "label", .function = text, .is_named = true};
}

static const char *label_of(const struct symbol_frame *frame)
{
    static const struct {
        enum torch_meaning meaning;
        const char *text;
    } labels[] = {
#define LABEL(meaning, text) {TORCH_##meaning, text},
#include "thread_labels.def"
    };

    for (size_t i = 0; frame->is_named && i < sizeof labels / sizeof *labels; i++)
        if (torch_is(frame->means, labels[i].meaning))
            return labels[i].text;
    return NULL;
}

static int begin_native(struct symbol_walk *walk, uint64_t address, struct err *err)
{
    /* After a signal, add 1, because native_names_find looks up the byte before the address. */
    uint64_t return_address = address + walk->after_signal;
    const struct native_run *run = native_names_find(walk->symbols->native, return_address, err);
    if (!run)
        return -1;
    walk->next = run->first;
    walk->end = run->first + run->count;
    walk->after_signal = run->is_signal_return;
    return 0;
}

static void show_native(struct symbol_walk *walk, struct symbol_frame *frame)
{
    *frame = *native_names_frame(walk->symbols->native, walk->next++);
    if (!walk->wants_no_label)
        walk->label = label_of(frame);
    walk->wants_no_label |= walk->label != NULL;
}

int symbols_walk_next(struct symbol_walk *walk, struct symbol_frame *frame, struct err *err)
{
    const struct trace *trace = walk->symbols->trace;
    while (walk->next == walk->end && !walk->label) {
        if (walk->depth++ == SYMBOLS_DEPTH_MAX || walk->frame_id >= trace->frame_limit)
            return 0;
        const struct trace_frame *next = &trace->frames[walk->frame_id];
        if (!next->present)
            return 0;
        walk->frame_id = next->parent_id;
        if (next->kind == FRAME_NATIVE) {
            if (begin_native(walk, next->address, err))
                return -1;
            continue;
        }
        *frame = next->kind == FRAME_PYTHON ? python_frame(walk->symbols, next->address)
                                            : label_frame(trace_string(trace, next->address));
        return 1;
    }
    if (walk->label) {
        *frame = label_frame(walk->label);
        walk->label = NULL;
    } else {
        show_native(walk, frame);
    }
    return 1;
}

int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        show(self, &frame);
    return status;
}
