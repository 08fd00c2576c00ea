/* SPDX-License-Identifier: MIT */
/* Owners and makers of memory, by the frames of its stack; see category_frames.h. */
#include "category_frames.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

static const struct {
    const char *start;
    uint8_t category;
} modules[] = {
#define MODULE(start, category) {start, CATEGORY_##category},
#include "category_modules.def"
};

static const struct {
    enum torch_meaning meaning;
    uint8_t category;
} functions[] = {
#define MEANT(meaning, category) {TORCH_##meaning, CATEGORY_##category},
#include "category_functions.def"
};

static uint8_t match_module(const char *path)
{
    const char *file = path_name(path);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strncmp(file, modules[i].start, strlen(modules[i].start)))
            return modules[i].category;
    return CATEGORY_COUNT;
}

/* Finds the category of each frame's library. Matches each module once, because many frames
 * share few modules. */
static int classify_frames(struct categories *categories, struct err *err)
{
    const struct trace *trace = categories->history->trace;
    uint8_t *of_module = array_new(trace->module_count, 1, err);
    bool any = false;
    if (!of_module)
        return -1;
    for (size_t i = 0; i < trace->module_count; i++) {
        of_module[i] = match_module(trace->modules[i].path);
        any |= of_module[i] != CATEGORY_COUNT;
    }
    memset(categories->of_stack, CATEGORY_COUNT, trace->frame_limit);
    for (size_t i = 0; any && i < trace->frame_limit; i++) {
        const struct trace_frame *frame = &trace->frames[i];
        const struct trace_module *module = NULL;

        if (frame->present && frame->kind == FRAME_NATIVE)
            module = trace_module_at(trace, frame->address - 1);
        if (module)
            categories->of_stack[i] = of_module[module - trace->modules];
    }
    free(of_module);
    return 0;
}

int category_frames_init(struct categories *categories, struct err *err)
{
    const struct trace *trace = categories->history->trace;
    categories->of_stack = array_new(trace->frame_limit, 1, err);
    categories->of_function = array_new(trace->frame_limit, 1, err);
    categories->of_maker = array_new(trace->frame_limit, 1, err);
    if (!categories->of_stack || !categories->of_function || !categories->of_maker)
        return -1;
    return classify_frames(categories, err);
}

uint8_t category_of_library(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit; depth++) {
        if (categories->of_stack[stack_id] != CATEGORY_COUNT)
            return categories->of_stack[stack_id];
        if (!trace->frames[stack_id].present)
            break;
        stack_id = trace->frames[stack_id].parent_id;
    }
    return CATEGORY_COUNT;
}

static uint8_t match_meanings(uint64_t means)
{
    for (size_t i = 0; means && i < sizeof functions / sizeof *functions; i++)
        if (torch_is(means, functions[i].meaning))
            return functions[i].category;
    return CATEGORY_COUNT;
}

/* Finds the named frames at an address of a library whose functions have meanings. */
static const struct symbol_frame *find_functions(const struct categories *categories,
                                                 const struct trace_frame *frame, size_t *count)
{
    const struct trace_module *module =
        frame->kind == FRAME_NATIVE
            ? trace_module_at(categories->history->trace, frame->address - 1)
            : NULL;
    bool is_signal_return;
    *count = 0;
    if (!module || !torch_has_operators(path_name(module->path)))
        return NULL;
    return symbols_find(categories->symbols, frame->address, count, &is_signal_return, NULL);
}

/* *inner has the meanings of the operator that was called inside this frame. If the frame has an
 * operator of its own, *inner is set to that operator's, for the next frame. */
static uint8_t match_function(const struct categories *categories, const struct trace_frame *frame,
                              uint64_t *inner)
{
    const struct trace *trace = categories->history->trace;
    uint8_t category = CATEGORY_COUNT;
    size_t count;
    if (frame->kind == FRAME_PYTHON && frame->address < trace->location_limit)
        return match_meanings(trace->locations[frame->address].means);
    const struct symbol_frame *found = find_functions(categories, frame, &count);
    for (size_t n = 0; found && n < count && category == CATEGORY_COUNT; n++) {
        const uint64_t means = found[n].means;
        category = match_meanings(means);
        if (category != CATEGORY_COUNT || !torch_is(means, TORCH_operator))
            continue;
        if (torch_is(*inner, TORCH_new_memory) && torch_is(means, TORCH_workspace_user))
            category = CATEGORY_workspace;
        *inner = means;
    }
    return category;
}

uint8_t category_of_function(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;
    uint32_t from = stack_id;
    uint8_t category = CATEGORY_COUNT;
    uint64_t inner = 0;
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && category == CATEGORY_COUNT &&
                        stack_id < trace->frame_limit && trace->frames[stack_id].present;
         depth++) {
        if (categories->of_function[stack_id]) {
            category = categories->of_function[stack_id] - 1;
            break;
        }
        category = match_function(categories, &trace->frames[stack_id], &inner);
        stack_id = trace->frames[stack_id].parent_id;
    }
    if (from < trace->frame_limit)
        categories->of_function[from] = category + 1;
    return category;
}

/* --- makers --- */

/* The meanings of the outermost operator inside the innermost Python frame, which the line called.
 * 0: no operator is known. */
static uint64_t outermost_operator(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;
    uint64_t outermost = 0;
    for (int depth = 0;
         depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit &&
         trace->frames[stack_id].present && trace->frames[stack_id].kind != FRAME_PYTHON;
         depth++, stack_id = trace->frames[stack_id].parent_id) {
        size_t count;
        const struct symbol_frame *found =
            find_functions(categories, &trace->frames[stack_id], &count);

        for (size_t n = 0; found && n < count; n++)
            if (torch_is(found[n].means, TORCH_operator))
                outermost = found[n].means;
    }
    return outermost;
}

static enum made find_made(uint64_t means)
{
    return !means                                  ? MADE_unknown
           : torch_is(means, TORCH_makes_constant) ? MADE_constant
           : torch_is(means, TORCH_makes_empty)    ? MADE_empty
           : torch_is(means, TORCH_makes_values)   ? MADE_values
                                                   : MADE_computed;
}

enum made category_made(const struct categories *categories, const struct block *block)
{
    const uint32_t stack_id = site_stack(block->site_id);
    if (block->memory != MEMORY_TENSOR || block->is_of_framework ||
        stack_id >= categories->history->trace->frame_limit)
        return MADE_unknown;
    if (!categories->of_maker[stack_id])
        categories->of_maker[stack_id] = 1 + find_made(outermost_operator(categories, stack_id));
    return (enum made)(categories->of_maker[stack_id] - 1);
}

uint64_t category_casting_place(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;
    if (category_of_function(categories, stack_id) != CATEGORY_cast)
        return 0;
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit &&
                        trace->frames[stack_id].present;
         depth++) {
        uint64_t inner = 0;
        const struct trace_frame *frame = &trace->frames[stack_id];

        stack_id = frame->parent_id;
        if (match_function(categories, frame, &inner) == CATEGORY_cast)
            return stack_id < trace->frame_limit ? trace->frames[stack_id].address : 0;
    }
    return 0;
}
