/* SPDX-License-Identifier: MIT */
/* Owners and makers of memory, by the frames of its stack; see category_frames.h. */
#include "category_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/glob.h"
#include "gpumemtrace/limits.h"

static const struct {
    const char *start;
    uint8_t category;
} modules[] = {
#define MODULE(start, category) {start, CATEGORY_##category},
#include "category_modules.def"
};

static const struct {
    const char *module, *pattern;
    uint8_t category;
} functions[] = {
#define FUNCTION(module, pattern, category) {module, pattern, CATEGORY_##category},
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category)
#define MADE(pattern, how)
#include "category_functions.def"
};

static const struct {
    const char *called, *caller;
    uint8_t category;
} withins[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category) {called, caller, CATEGORY_##category},
#define PYTHON(pattern, category)
#define MADE(pattern, how)
#include "category_functions.def"
};

static const struct {
    const char *pattern;
    uint8_t category;
} python_functions[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category) {pattern, CATEGORY_##category},
#define MADE(pattern, how)
#include "category_functions.def"
};

static const struct {
    const char *pattern;
    uint8_t made;
} makers[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category)
#define MADE(pattern, how) {pattern, MADE_##how},
#include "category_functions.def"
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static uint8_t match_module(const char *path)
{
    const char *file = file_name(path);

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

enum { SUBJECT_BYTES = 2 * LIMIT_text_bytes + sizeof ":" };

static uint8_t match_location(const struct trace *trace, const struct trace_location *location)
{
    char subject[SUBJECT_BYTES];

    snprintf(subject, sizeof subject, "%s:%s", trace_string(trace, location->file_id),
             trace_string(trace, location->function_id));
    for (size_t i = 0; i < sizeof python_functions / sizeof *python_functions; i++)
        if (glob_match(python_functions[i].pattern, subject))
            return python_functions[i].category;
    return CATEGORY_COUNT;
}

int category_frames_init(struct categories *categories, struct err *err)
{
    const struct trace *trace = categories->history->trace;

    categories->of_stack = array_new(trace->frame_limit, 1, err);
    categories->of_function = array_new(trace->frame_limit, 1, err);
    categories->of_location = array_new(trace->location_limit, 1, err);
    categories->of_maker = array_new(trace->frame_limit, 1, err);
    if (!categories->of_stack || !categories->of_function || !categories->of_location ||
        !categories->of_maker || classify_frames(categories, err))
        return -1;
    for (size_t i = 0; i < trace->location_limit; i++)
        categories->of_location[i] = match_location(trace, &trace->locations[i]);
    return 0;
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

static const char operators[] = "at::_ops::";

/* "addmm" of "at::_ops::addmm::call"; length 0: no operator. */
struct operator_name {
    const char *text;
    size_t length;
};

static struct operator_name operator_of(const char *function)
{
    const char *name = function + sizeof operators - 1;

    if (strncmp(function, operators, sizeof operators - 1))
        return (struct operator_name){NULL, 0};
    return (struct operator_name){name, strcspn(name, ":")};
}

static bool is_operator(const struct operator_name *found, const char *name)
{
    return found->length == strlen(name) && !memcmp(found->text, name, found->length);
}

/* *inner is the operator that was called inside this frame. If the frame has an operator of its
 * own, *inner is set to that operator, for the next frame. */
static uint8_t match_operator(struct operator_name *inner, const char *function)
{
    const struct operator_name own = operator_of(function);
    uint8_t category = CATEGORY_COUNT;

    if (!own.length)
        return CATEGORY_COUNT;
    for (size_t i = 0; i < sizeof withins / sizeof *withins && inner->length; i++)
        if (is_operator(inner, withins[i].called) && is_operator(&own, withins[i].caller))
            category = withins[i].category;
    *inner = own;
    return category;
}

static uint8_t match_name(struct operator_name *inner, const char *file, const char *function)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strncmp(file, functions[i].module, strlen(functions[i].module)) &&
            glob_match(functions[i].pattern, function))
            return functions[i].category;
    return match_operator(inner, function);
}

/* True for the library of the operators, and for the libraries in the table. The names of frames in
 * other libraries are not looked up. */
static bool has_functions(const char *file)
{
    static const char of_operators[] = "libtorch_cpu";
    bool has = !strncmp(file, of_operators, sizeof of_operators - 1);

    for (size_t i = 0; i < sizeof functions / sizeof *functions && !has; i++)
        has = !strncmp(file, functions[i].module, strlen(functions[i].module));
    return has;
}

static uint8_t match_function(const struct categories *categories, const struct trace_frame *frame,
                              struct operator_name *inner)
{
    const struct trace_module *module =
        frame->kind == FRAME_NATIVE
            ? trace_module_at(categories->history->trace, frame->address - 1)
            : NULL;
    uint8_t category = CATEGORY_COUNT;
    bool is_signal_return;
    size_t count = 0;

    if (frame->kind == FRAME_PYTHON && frame->address < categories->history->trace->location_limit)
        return categories->of_location[frame->address];
    if (!module || !has_functions(file_name(module->path)))
        return CATEGORY_COUNT;
    const struct symbol_frame *found =
        symbols_find(categories->symbols, frame->address, &count, &is_signal_return, NULL);
    for (size_t n = 0; found && n < count && category == CATEGORY_COUNT; n++)
        category = match_name(inner, file_name(module->path), found[n].function);
    return category;
}

uint8_t category_of_function(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;
    uint32_t from = stack_id;
    uint8_t category = CATEGORY_COUNT;
    struct operator_name inner = {NULL, 0};

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

/* Finds the outermost operator inside the innermost Python frame, which the line called. Returns
 * false if no operator is known. */
static bool find_outermost_operator(const struct categories *categories, uint32_t stack_id,
                                    struct operator_name *outermost)
{
    const struct trace *trace = categories->history->trace;
    bool is_signal_return;

    *outermost = (struct operator_name){NULL, 0};
    for (int depth = 0;
         depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit &&
         trace->frames[stack_id].present && trace->frames[stack_id].kind != FRAME_PYTHON;
         depth++, stack_id = trace->frames[stack_id].parent_id) {
        const struct trace_frame *frame = &trace->frames[stack_id];
        const struct trace_module *module =
            frame->kind == FRAME_NATIVE ? trace_module_at(trace, frame->address - 1) : NULL;
        size_t count = 0;

        if (!module || !has_functions(file_name(module->path)))
            continue;
        const struct symbol_frame *found =
            symbols_find(categories->symbols, frame->address, &count, &is_signal_return, NULL);
        for (size_t n = 0; found && n < count; n++) {
            const struct operator_name own = operator_of(found[n].function);
            if (own.length)
                *outermost = own;
        }
    }
    return outermost->length;
}

enum { OPERATOR_BYTES = 64 }; /* longer names match no row */

static enum made find_made(const struct operator_name *operator)
{
    char name[OPERATOR_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)operator->length, operator->text);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (glob_match(makers[i].pattern, name))
            return (enum made)makers[i].made;
    return MADE_computed;
}

enum made category_made(const struct categories *categories, const struct block *block)
{
    const uint32_t stack_id = block->stack_id;
    struct operator_name operator;

    if (block->memory != MEMORY_TENSOR || block->is_of_framework ||
        stack_id >= categories->history->trace->frame_limit)
        return MADE_unknown;
    if (!categories->of_maker[stack_id])
        categories->of_maker[stack_id] =
            1 + (find_outermost_operator(categories, stack_id, &operator) ? find_made(&operator)
                                                                          : MADE_unknown);
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
        struct operator_name inner = {NULL, 0};
        const struct trace_frame *frame = &trace->frames[stack_id];

        stack_id = frame->parent_id;
        if (match_function(categories, frame, &inner) == CATEGORY_cast)
            return stack_id < trace->frame_limit ? trace->frames[stack_id].address : 0;
    }
    return 0;
}
