/* SPDX-License-Identifier: MIT */
/* Decides whether a line evaluates; see evaluation.h. */
#include "evaluation.h"

#include "analyzer/thresholds/thresholds.h"

static bool is_open_iteration(const struct lives *lives)
{
    return lives->iterations.number && lives->bytes_by_part[PART_BACKWARD] &&
           (lives->iterations.part == PART_FORWARD || lives->iterations.part == PART_DATA);
}

static bool is_of(const struct places *places, uint32_t location, enum torch_meaning meaning)
{
    return location != PLACE_NATIVE && torch_is(places->trace->locations[location].means, meaning);
}

/* --- models without a frame of the program --- */

/* True if the line may belong to a model. A layer of torch is no sign of a model, because many
 * models share it. */
static bool is_model(const struct places *places, uint32_t location)
{
    return location != PLACE_NATIVE && !places_line_is_of_program(places, location) &&
           (is_of(places, location, TORCH_container) || !is_of(places, location, TORCH_package));
}

/* Returns the place at the given line: `place` or one of its callers. PLACE_ROOT: none. */
static uint32_t place_of_line(const struct places *places, uint32_t place, uint32_t location)
{
    while (place != PLACE_ROOT && places->items[place].location != location)
        place = places->tree.nodes[place].outer;
    return place;
}

/* Returns the outermost frame inside the line, without the calls of module.py, if this frame
 * belongs to a model. Returns 0 if it does not. */
static uint32_t model_of(const struct at_moment *at, uint32_t location)
{
    const struct places *places = at->places;
    for (size_t i = 0; i < at->count; i++) {
        uint32_t found = 0, place = at->items[i].place;
        const uint32_t line = place_of_line(places, place, location);
        if (at->items[i].part != PART_FORWARD || line == PLACE_ROOT)
            continue;
        if (torch_is(places->items[line].signs, TORCH_module_call))
            return 0;
        for (; place != line; place = places->tree.nodes[place].outer)
            if (!is_of(places, places->items[place].location, TORCH_module_code))
                found = places->items[place].location;
        if (found && is_model(places, found))
            return found;
    }
    return 0;
}

static uint64_t count_calls(const struct at_moment *at, uint32_t location)
{
    uint64_t count = 0;
    bool is_in_call = false;
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        if (block->begin_index < at->iteration_index)
            continue;
        const bool is_of_line = place_is_under(at->places, block->place, location);
        count += is_of_line && !is_in_call;
        is_in_call = is_of_line;
    }
    return count;
}

/* --- the line --- */

bool evaluation_is(const struct lives *lives, const struct at_moment *at, uint32_t location,
                   uint64_t calls)
{
    const struct places *places = at->places;
    uint32_t callee = at_moment_callee(at, location);
    bool was_trained = false;
    if (!is_open_iteration(lives))
        return false;
    if (!callee) {
        callee = model_of(at, location);
        calls = count_calls(at, location);
    }
    if (!callee || calls < EVALUATION_CALLS_FEWEST)
        return false;
    for (uint32_t place = 0; place < lives->count; place++) {
        const struct place_life *life = &lives->items[place];
        if (!life->births_count || life->first_iteration == lives->iterations.number)
            continue;
        if (place_is_under(places, place, location))
            return false;
        was_trained = was_trained || place_is_under(places, place, callee);
    }
    return was_trained;
}
