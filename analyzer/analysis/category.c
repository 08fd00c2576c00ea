/* SPDX-License-Identifier: MIT */
/* Categories of memory, and the rules that find them; see category.h. */
#include "category.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/symbol/symbols.h"
#include "analyzer/util/array.h"
#include "analyzer/util/glob.h"
#include "gpumemtrace/limits.h"

static const struct {
    const char *key, *title;
} names[] = {
#define CATEGORY(name, text) {#name, text},
#include "categories.def"
};

static const struct {
    const char *word;
    uint8_t kept, passing;
} rules[] = {
#define RULE(word, kept, passing) {word, CATEGORY_##kept, CATEGORY_##passing},
#include "category_rules.def"
};

static const struct {
    const char *start;
    uint8_t category;
} modules[] = {
#define MODULE(start, category) {start, CATEGORY_##category},
#include "category_modules.def"
};

enum { CATEGORY_cast = CATEGORY_COUNT + 1 }; /* only in category_functions.def */

static const struct {
    const char *module, *pattern;
    uint8_t category;
} functions[] = {
#define FUNCTION(module, pattern, category) {module, pattern, CATEGORY_##category},
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category)
#define INPUT(pattern)
#include "category_functions.def"
};

static const struct {
    const char *called, *caller;
    uint8_t category;
} withins[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category) {called, caller, CATEGORY_##category},
#define PYTHON(pattern, category)
#define INPUT(pattern)
#include "category_functions.def"
};

static const struct {
    const char *pattern;
    uint8_t category;
} python_functions[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category) {pattern, CATEGORY_##category},
#define INPUT(pattern)
#include "category_functions.def"
};

static const char *const inputs[] = {
#define FUNCTION(module, pattern, category)
#define WITHIN(called, caller, category)
#define PYTHON(pattern, category)
#define INPUT(pattern) pattern,
#include "category_functions.def"
};

const char *category_key(enum category category)
{
    return category < CATEGORY_COUNT ? names[category].key : "other";
}

const char *category_title(enum category category)
{
    return category < CATEGORY_COUNT ? names[category].title : "Other";
}

/* "trainForward" and "train_forward" contain the word forward; "feedforward" does not. */
static bool starts_word(const char *name, const char *at)
{
    return at == name || !isalnum((unsigned char)at[-1]) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
}

static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = name; *at; at++)
        if (!strncasecmp(at, word, length) && starts_word(name, at))
            return true;
    return false;
}

uint8_t category_rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (has_word(name, rules[i].word))
            return (uint8_t)i;
    return PATH_RULE_NONE;
}

enum category category_of_rule(uint8_t rule)
{
    return rule == PATH_RULE_NONE ? CATEGORY_other : (enum category)rules[rule].kept;
}

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

int categories_init(struct categories *categories, const struct history *history,
                    struct symbols *symbols, struct err *err)
{
    const struct trace *trace = history->trace;

    *categories = (struct categories){.history = history, .symbols = symbols};
    categories->of_stack = array_new(trace->frame_limit, 1, err);
    categories->of_function = array_new(trace->frame_limit, 1, err);
    categories->of_location = array_new(trace->location_limit, 1, err);
    categories->casting_places = array_new(1, sizeof *categories->casting_places, err);
    categories->of_input = array_new(trace->frame_limit, 1, err);
    categories->of_copy = array_new(trace->frame_limit, 1, err);
    if (!categories->of_stack || !categories->of_function || !categories->of_location ||
        !categories->of_input || !categories->of_copy || !categories->casting_places ||
        classify_frames(categories, err)) {
        categories_release(categories);
        return -1;
    }
    for (size_t i = 0; i < trace->location_limit; i++)
        categories->of_location[i] = match_location(trace, &trace->locations[i]);
    return 0;
}

void categories_release(struct categories *categories)
{
    free(categories->of_stack);
    free(categories->of_function);
    free(categories->of_location);
    free(categories->of_input);
    free(categories->of_copy);
    if (categories->casting_places)
        pair_map_release(categories->casting_places);
    free(categories->casting_places);
    *categories = (struct categories){0};
}

/* Category of the innermost frame whose library is in the table. */
static uint8_t of_libraries(const struct categories *categories, uint32_t stack_id)
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

/* Category of the innermost frame that matches a row of the table. */
static uint8_t of_functions(const struct categories *categories, uint32_t stack_id)
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

/* --- inputs --- */

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

/* True unless the program's line computed the tensor. */
static bool may_be_input(const struct categories *categories, const struct block *block)
{
    const uint32_t stack_id = block->stack_id;
    struct operator_name operator;
    char name[OPERATOR_BYTES];
    bool may_be = false;

    if (block->memory != MEMORY_TENSOR || block->is_of_framework ||
        stack_id >= categories->history->trace->frame_limit)
        return true;
    if (categories->of_input[stack_id])
        return categories->of_input[stack_id] > 1;
    if (find_outermost_operator(categories, stack_id, &operator)) {
        snprintf(name, sizeof name, "%.*s", (int)operator.length, operator.text);
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !may_be; i++)
            may_be = glob_match(inputs[i], name);
    } else {
        may_be = true;
    }
    categories->of_input[stack_id] = 1 + may_be;
    return may_be;
}

/* --- use --- */

static bool has_size(const struct categories *categories, enum size_of of, uint64_t bytes)
{
    return pair_map_get(&categories->history->sizes, (uint32_t)of, bytes) != PAIR_MAP_NONE;
}

static bool is_inferred(const struct history *history, const struct block *block)
{
    return history->paths[block->deciding_path].source == PHASE_SOURCE_INFERRED;
}

/*
 * A result of which no use is known. It is temporary if it dies inside its phase. An inferred phase
 * can go on over many rounds of a loop. So the block must also die before its own call stack
 * allocates again: a cache or a list lives longer.
 */
static enum category of_result(const struct history *history, const struct block *block)
{
    const bool stays = block->outlived || (is_inferred(history, block) && block->recurred);

    return block->end == BLOCK_LIVE || stays ? CATEGORY_other : CATEGORY_temporaries;
}

/*
 * Memory of a forward is an activation if backward needs it. Autograd's own record tells that.
 * Without a record, the block must live until a backward begins, and not until the next one.
 *
 *     forward  birth ───────────────── end                    temporary
 *     forward  birth ──── backward ─── end                    activation
 *     forward  birth ──── backward ──────── backward ─── end  other
 *
 * A program that died before its first backward would have run one, if autograd recorded.
 */
static enum category of_forward(const struct history *history, const struct block *block)
{
    const bool tells = trace_tells_autograd(history->trace);
    const bool died = history->failures_in_all || !history->has_exit;
    const uint32_t rounds = block_rounds(history, block);

    if (!history->rounds_count)
        return tells && died && block->is_of_graph ? CATEGORY_activations
                                                   : of_result(history, block);
    if (block->is_of_graph || rounds == 1)
        return CATEGORY_activations;
    if (rounds > 1)
        return CATEGORY_other;
    return block->end == BLOCK_LIVE && !tells ? CATEGORY_activations : of_result(history, block);
}

/*
 * Memory that a class of the program made in its constructor. A data set has constructors too, so
 * the block is a parameter only if backward made a gradient of its size.
 */
static bool is_guessed_parameter(const struct categories *categories, const struct block *block)
{
    return block->memory == MEMORY_TENSOR && is_inferred(categories->history, block) &&
           !block->is_of_framework;
}

/* The category by the innermost phase with a rule around the block's birth, and by its use. */
static enum category of_phase(const struct categories *categories, const struct block *block)
{
    const struct history *history = categories->history;

    if (block->deciding_path == HISTORY_NONE)
        return CATEGORY_other;
    const uint8_t rule = history->paths[block->deciding_path].rule;
    const enum category category =
        (enum category)(block->outlived ? rules[rule].kept : rules[rule].passing);
    if (rule == PATH_RULE_FORWARD)
        return of_forward(history, block);
    if (category == CATEGORY_input && !may_be_input(categories, block))
        return of_result(history, block);
    if (category == CATEGORY_parameters && is_guessed_parameter(categories, block) &&
        !has_size(categories, SIZE_OF_GRADIENT, block->size_bytes))
        return CATEGORY_other;
    return category;
}

static uint8_t of_owner(const struct categories *categories, const struct block *block)
{
    return block->memory == MEMORY_TENSOR ? of_functions(categories, block->stack_id)
                                          : of_libraries(categories, block->stack_id);
}

/* --- copies of weights --- */

/* The place from which autocast is called for the stack's tensor: one for each argument of an
 * operator. 0: the stack is no cast. */
static uint64_t casting_place(const struct categories *categories, uint32_t stack_id)
{
    const struct trace *trace = categories->history->trace;

    if (of_functions(categories, stack_id) != CATEGORY_cast)
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

/* Adds up the uses of the stacks that cast for the same argument, on any line of the program. */
static void find_casting_places(struct pair_map *places, const struct categories *categories)
{
    const struct history *history = categories->history;
    struct err unread; /* if memory runs out, the places are unknown */

    for (uint32_t i = 0; i < history->stack_use_count; i++) {
        const uint64_t place = history->stack_uses[i] ? casting_place(categories, i) : 0;
        const uint32_t known = place ? pair_map_get(places, 0, place) : PAIR_MAP_NONE;
        const uint32_t uses = history->stack_uses[i] | (known == PAIR_MAP_NONE ? 0 : known);

        if (place && pair_map_put(places, 0, place, uses, &unread))
            return;
    }
    /* Says that the places are known, even if there are none. No place has this key. */
    pair_map_put(places, 1, 0, 0, &unread);
}

/*
 * An argument is a weight if each of its casts has half the size of a tensor made in init, and if
 * the backward of a cast left a gradient. A program without backward leaves none.
 */
static bool is_weight_copy(const struct categories *categories, uint32_t stack_id)
{
    struct pair_map *places = categories->casting_places;

    if (categories->of_copy[stack_id])
        return categories->of_copy[stack_id] > 1;
    if (!places->count)
        find_casting_places(places, categories);
    const uint32_t uses = pair_map_get(places, 0, casting_place(categories, stack_id));
    const bool is_copy = uses != PAIR_MAP_NONE && !(uses & STACK_HAS_NO_HALF) &&
                         (uses & STACK_IS_TRAINED || !categories->history->rounds_count);
    categories->of_copy[stack_id] = 1 + is_copy;
    return is_copy;
}

bool categories_is_weight_copy(const struct categories *categories, const struct block *block)
{
    return block->memory == MEMORY_TENSOR &&
           of_functions(categories, block->stack_id) == CATEGORY_cast &&
           is_weight_copy(categories, block->stack_id);
}

enum category categories_of(const struct categories *categories, const struct block *block)
{
    if (block->is_segment)
        return CATEGORY_other;
    const uint8_t category = of_owner(categories, block);
    if (category == CATEGORY_cast && is_weight_copy(categories, block->stack_id))
        return CATEGORY_temporaries;
    return category < CATEGORY_COUNT ? (enum category)category : of_phase(categories, block);
}

bool categories_is_workspace(const struct categories *categories, uint32_t stack_id)
{
    return of_functions(categories, stack_id) == CATEGORY_workspace;
}
