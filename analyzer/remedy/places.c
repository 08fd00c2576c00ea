/* SPDX-License-Identifier: MIT */
/* Finds the places of stacks; see places.h. */
#include "places.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/symbol/symbols.h"
#include "analyzer/symbol/frame.h"
#include "analyzer/util/array.h"

/* Added to a native stack's id, so that it differs from all locations. */
#define NATIVE_FRAME (UINT64_C(1) << 32)

static uint32_t add_place(struct places *places, uint32_t outer, uint64_t frame,
                          const struct place *place, struct err *err)
{
    const uint32_t number = frame_tree_add(&places->tree, outer, frame, err);
    if (number < places->count || number == FRAME_TREE_NONE)
        return number;
    if (ARRAY_REACH(places->items, places->capacity, places->count, number, err))
        return PLACE_NONE;
    places->items[number] = *place;
    if (place->maker == PLACE_NONE) /* the place itself */
        places->items[number].maker = number;
    return number;
}

int places_init(struct places *places, const struct trace *trace, struct err *err)
{
    *places = (struct places){.trace = trace};
    places->of_frame = array_new(trace->frame_limit, sizeof *places->of_frame, err);
    if (!places->of_frame ||
        add_place(places, FRAME_TREE_NONE, PLACE_NATIVE, &(struct place){0}, err) == PLACE_NONE) {
        places_release(places);
        return -1;
    }
    return 0;
}

void places_release(struct places *places)
{
    free(places->items);
    frame_tree_release(&places->tree);
    free(places->of_frame);
    *places = (struct places){0};
}

/* True for the name of a lambda or of an expression, such as "build.<locals>.<genexpr>". */
static bool is_of_expression(const char *function)
{
    const size_t length = strlen(function);
    return length && function[length - 1] == '>' && strcmp(function, "<module>") != 0;
}

/* Returns the place that `location` has inside `parent`. */
static struct place place_inside(const struct places *places, uint32_t parent, uint32_t location)
{
    const struct place *outer = &places->items[parent];
    const struct trace *trace = places->trace;
    const char *function = trace_string(trace, trace->locations[location].function_id);
    const bool is_in_constructor = outer->is_in_constructor || strstr(function, "__init__");
    const bool makes = !is_in_constructor && !is_of_expression(function) &&
                       places_line_is_of_program(places, location);
    return (struct place){.location = location,
                          .signs = outer->signs | trace->locations[location].means,
                          .is_in_constructor = is_in_constructor,
                          .maker = makes ? PLACE_NONE : outer->maker};
}

static uint32_t place_of_frame(struct places *places, uint32_t frame_id, struct err *err)
{
    const struct trace *trace = places->trace;
    if (frame_id < trace->frame_limit && places->of_frame[frame_id])
        return places->of_frame[frame_id] - 1;
    uint32_t path[SYMBOLS_DEPTH_MAX] = {0};
    int depth = 0;

    for (; depth < SYMBOLS_DEPTH_MAX && frame_id < trace->frame_limit &&
           trace->frames[frame_id].present && !places->of_frame[frame_id];
         depth++) {
        path[depth] = frame_id;
        frame_id = trace->frames[frame_id].parent_id;
    }
    uint32_t place = PLACE_ROOT;
    if (frame_id < trace->frame_limit && places->of_frame[frame_id])
        place = places->of_frame[frame_id] - 1;
    while (depth--) {
        const struct trace_frame *frame = &trace->frames[path[depth]];
        if (frame->kind == FRAME_PYTHON && frame->address < trace->location_limit) {
            const uint32_t location = (uint32_t)frame->address;
            const struct place found = place_inside(places, place, location);
            place = add_place(places, place, location, &found, err);
            if (place == PLACE_NONE)
                return PLACE_NONE;
        }
        places->of_frame[path[depth]] = place + 1;
    }
    return place;
}

uint32_t places_of(struct places *places, uint32_t stack_id, struct err *err)
{
    const uint32_t place = place_of_frame(places, stack_id, err);
    if (place != PLACE_ROOT)
        return place;
    return add_place(places, PLACE_ROOT, NATIVE_FRAME | stack_id, &(struct place){0}, err);
}

bool places_have(const struct places *places, enum torch_meaning sign)
{
    for (size_t i = 0; i < places->count; i++)
        if (torch_is(places->items[i].signs, sign))
            return true;
    return false;
}

bool place_is_under(const struct places *places, uint32_t place, uint32_t location)
{
    for (; place != PLACE_ROOT; place = places->tree.nodes[place].outer)
        if (places->items[place].location == location)
            return true;
    return false;
}

bool place_is_in(const struct places *places, uint32_t place, uint32_t around)
{
    while (place > around)
        place = places->tree.nodes[place].outer;
    return place == around;
}

bool places_line_is_of_program(const struct places *places, uint32_t location)
{
    const struct trace *trace = places->trace;
    const struct trace_location *found = &trace->locations[location];
    const struct symbol_frame frame = {.kind = "python",
                                       .function = trace_string(trace, found->function_id),
                                       .file = trace_string(trace, found->file_id),
                                       .line = found->line,
                                       .means = found->means,
                                       .is_named = true};
    return frame_role_of(&frame) == ROLE_program;
}
