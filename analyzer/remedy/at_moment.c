/* SPDX-License-Identifier: MIT */
/* Finds the live blocks at a moment, and the signs of remedies in them; see at_moment.h. */
#include "at_moment.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"

/* Size of the block that holds a single number. */
enum { LOSS_BYTES = 512 };

/* --- live blocks --- */

static int add_live(struct at_moment *at, uint64_t begin_index, uint64_t size_bytes,
                    uint32_t stack_id, uint32_t path, bool is_of_graph, struct err *err)
{
    if (ARRAY_GROW(at->items, at->capacity, at->count, err))
        return -1;
    struct live_block *added = &at->items[at->count];
    *added = (struct live_block){.begin_index = begin_index,
                                 .size_bytes = size_bytes,
                                 .place = places_of(at->places, stack_id, err),
                                 .stack_id = stack_id,
                                 .part = part_of_block(at->categories, path, stack_id),
                                 .is_of_graph = is_of_graph};
    if (added->place == PLACE_NONE)
        return -1;
    at->live_bytes += size_bytes;
    at->bytes_by_part[added->part] += size_bytes;
    at->count++;
    return 0;
}

/* True if the program freed the block of the peak and did no work while it was live. A second model
 * is freed, too, for example when the function ends that holds it. */
static bool is_unused(const struct lives *lives, const struct block *block)
{
    return block->end != BLOCK_LIVE && block->life.begin_index > lives->work_before_peak &&
           (!lives->work_after_peak || block->life.end_index < lives->work_after_peak);
}

ORDER_BY(compare_births, struct live_block, RISING(begin_index));

int at_moment_find(struct at_moment *at, uint32_t account, uint64_t index,
                   const struct failure *failure, struct err *err)
{
    struct live_walk walk = live_walk_begin(at->history, account, index);
    const struct block *block;
    while ((block = live_walk_next(&walk))) {
        if (add_live(at, block->life.begin_index, block->size_bytes, site_stack(block->site_id),
                     block->deciding_path, block->is_of_graph, err))
            return -1;
        at->items[at->count - 1].is_unused = is_unused(at->lives, block);
    }
    if (failure && add_live(at, index, failure->event.size_bytes, failure->event.stack_id,
                            failure->path, false, err))
        return -1;
    if (failure)
        at->items[at->count - 1].is_refused = true;
    SORT(at->items, at->count, compare_births);
    return 0;
}

void at_moment_release(struct at_moment *at)
{
    free(at->items);
    at->items = NULL;
    at->count = at->capacity = 0;
}

/* --- signs --- */

/* Returns 1 if the stack has the sign, 0 if it does not, and -1 on an error. Looks only at native
 * frames inside the innermost Python frame, because the Python line called them. */
static int has_native_sign(const struct at_moment *at, uint32_t stack_id, enum torch_meaning sign,
                           struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(at->symbols, stack_id);
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0) {
        if (!strcmp(frame.kind, "python"))
            return 0;
        if (torch_is(frame.means, sign))
            return 1;
    }
    return status;
}

int at_moment_signed(const struct at_moment *at, enum torch_meaning sign,
                     struct signed_bytes *found, struct err *err)
{
    *found = (struct signed_bytes){0};
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        int has = torch_is(at->places->items[block->place].signs, sign);
        if (!has && block->part == PART_FORWARD)
            has = has_native_sign(at, block->stack_id, sign, err);
        if (has < 0)
            return -1;
        if (!has)
            continue;
        found->bytes += block->size_bytes;
        found->unused_bytes += block->is_unused ? block->size_bytes : 0;
        if (block->size_bytes > found->largest_bytes) {
            found->largest_bytes = block->size_bytes;
            found->stack_id = block->stack_id;
        }
    }
    return 0;
}

ORDER_BY(compare_sizes, uint64_t, ORDER(*a, *b));

int at_moment_twins(const struct at_moment *at, enum torch_meaning sign, uint64_t *bytes,
                    struct err *err)
{
    uint64_t *own = array_new(at->count, sizeof *own, err);
    uint64_t *twins = array_new(at->count, sizeof *twins, err);
    size_t own_count = 0, twin_count = 0;
    *bytes = 0;
    for (size_t i = 0; own && twins && i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        if (torch_is(at->places->items[block->place].signs, sign))
            twins[twin_count++] = block->size_bytes;
        else if (block->part == PART_INIT)
            own[own_count++] = block->size_bytes;
    }
    SORT(own, own_count, compare_sizes);
    SORT(twins, twin_count, compare_sizes);
    for (size_t i = 0, n = 0; i < own_count && n < twin_count;) {
        *bytes += own[i] == twins[n] ? own[i] : 0;
        const bool is_own_next = own[i] <= twins[n], is_twin_next = twins[n] <= own[i];
        i += is_own_next;
        n += is_twin_next;
    }
    const int status = own && twins ? 0 : -1;
    free(own);
    free(twins);
    return status;
}

/* --- lines --- */

static bool is_of_this_forward(const struct at_moment *at, const struct live_block *block)
{
    return block->part == PART_FORWARD && block->begin_index >= at->iteration_index;
}

struct line {
    uint32_t location, depth;
    uint64_t bytes;
    /* number of the last block that was added, + 1: a recursive line counts once per block */
    size_t seen_at;
    /* an optimizer also allocated below the line: the line does more than a forward */
    bool runs_a_step;
};

static uint32_t depth_of(const struct places *places, uint32_t place)
{
    uint32_t depth = 0;
    for (; place != PLACE_ROOT; place = places->tree.nodes[place].outer)
        depth++;
    return depth;
}

/* Puts the line with most bytes first. If two lines hold the same, the caller comes first. */
ORDER_BY(compare_lines, struct line, FALLING(bytes), RISING(depth));

/* Adds the block's bytes to each line on its stack. */
static void add_to_lines(const struct at_moment *at, struct line *lines, size_t number)
{
    const struct live_block *block = &at->items[number];
    uint32_t depth = depth_of(at->places, block->place);
    for (uint32_t place = block->place; place != PLACE_ROOT;
         place = at->places->tree.nodes[place].outer, depth--) {
        const uint32_t location = at->places->items[place].location;
        struct line *line = &lines[location];
        if (line->seen_at != number + 1)
            line->bytes += block->size_bytes;
        line->seen_at = number + 1;
        line->location = location;
        line->depth = depth;
    }
}

/* Marks the lines that called an optimizer. The stacks of the optimizer's blocks show them. */
static void note_optimizers(const struct at_moment *at, struct line *lines)
{
    for (size_t i = 0; i < at->count; i++) {
        uint32_t place = at->items[i].part == PART_OPTIMIZER ? at->items[i].place : PLACE_ROOT;

        for (; place != PLACE_ROOT; place = at->places->tree.nodes[place].outer)
            lines[at->places->items[place].location].runs_a_step = true;
    }
}

/* --- calls of a layer by a line --- */

/* Counts how often a new place begins among the blocks under a line. All calls of a layer have such
 * places in common. */
struct passage {
    uint32_t place;
    uint64_t count;
};

struct passages {
    struct passage *items;
    size_t count, capacity;
};

static int add_passage(struct passages *passages, uint32_t place, struct err *err)
{
    for (size_t i = 0; i < passages->count; i++)
        if (passages->items[i].place == place) {
            passages->items[i].count++;
            return 0;
        }
    if (ARRAY_GROW(passages->items, passages->capacity, passages->count, err))
        return -1;
    passages->items[passages->count++] = (struct passage){place, 1};
    return 0;
}

static uint64_t most_count(const struct passages *passages)
{
    uint64_t most = 0;
    for (size_t i = 0; i < passages->count; i++)
        if (passages->items[i].count > most)
            most = passages->items[i].count;
    return most;
}

/* Returns the first place whose count is at least half of the highest count, without the last call,
 * which may still run: it may lack the place, and hold a temporary of the most frequent one. */
static const struct passage *first_common(const struct passages *passages)
{
    const uint64_t most = most_count(passages);
    for (size_t i = 0; i < passages->count; i++) {
        const uint64_t count = passages->items[i].count;
        if (count * 2 + (count > 1) >= most)
            return &passages->items[i];
    }
    return NULL;
}

static const struct passage *most_common(const struct passages *passages)
{
    const struct passage *most = NULL;
    for (size_t i = 0; i < passages->count; i++)
        if (!most || passages->items[i].count > most->count)
            most = &passages->items[i];
    return most;
}

/*
 * Counts the places under the line, in order of birth; consecutive blocks of one place count once.
 * Looks only at the first `limit` live blocks. If `before` is not PLACE_NONE, counts only the
 * places that come right before `before`, because a call ends with one of them. In this case two
 * consecutive blocks of one place and size belong to two calls. If each call keeps one tensor, this
 * tensor is the output of the call.
 */
static int find_passages(const struct at_moment *at, uint32_t location, size_t limit,
                         uint32_t before, struct passages *passages, struct err *err)
{
    uint32_t last = PLACE_NONE;
    uint64_t last_bytes = 0;
    for (size_t i = 0; i < limit; i++) {
        const struct live_block *block = &at->items[i];
        if (!is_of_this_forward(at, block) || !place_is_under(at->places, block->place, location))
            continue;
        const bool is_alike =
            block->place == last && (before == PLACE_NONE || block->size_bytes != last_bytes);
        const uint32_t found = before == PLACE_NONE     ? block->place
                               : block->place == before ? last
                                                        : PLACE_NONE;
        if (!is_alike && found != PLACE_NONE && add_passage(passages, found, err))
            return -1;
        last = block->place;
        last_bytes = block->size_bytes;
    }
    return 0;
}

/* True if most bytes under the line come from places that repeat. Otherwise the line makes one
 * call that contains a loop. */
static bool comes_back(const struct at_moment *at, uint32_t location,
                       const struct passages *passages)
{
    uint64_t all_bytes = 0, again_bytes = 0;
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        if (!is_of_this_forward(at, block) || !place_is_under(at->places, block->place, location))
            continue;
        all_bytes += block->size_bytes;
        for (size_t n = 0; n < passages->count; n++)
            if (passages->items[n].place == block->place && passages->items[n].count > 1)
                again_bytes += block->size_bytes;
    }
    return again_bytes >= all_bytes / 2;
}

static bool is_in_sequence(const struct at_moment *at, uint32_t place)
{
    for (; place != PLACE_ROOT; place = at->places->tree.nodes[place].outer) {
        const uint32_t location = at->places->items[place].location;
        if (location == PLACE_NATIVE)
            continue;
        if (places_line_is_of_program(at->places, location))
            return false;
        if (torch_is(at->places->trace->locations[location].means, TORCH_container))
            return true;
    }
    return false;
}

/* Returns the innermost line of the program on the stack, or 0 if there is none. */
static uint32_t line_of_program(const struct at_moment *at, uint32_t place)
{
    for (; place != PLACE_ROOT; place = at->places->tree.nodes[place].outer) {
        const uint32_t location = at->places->items[place].location;
        if (location != PLACE_NATIVE && places_line_is_of_program(at->places, location))
            return location;
    }
    return 0;
}

/* True if the line's function also makes batches or the model: then it calls the layer once for
 * each batch. False for a Sequential, which makes several calls of its own. */
static bool calls_once(const struct at_moment *at, uint32_t location, uint32_t first_place)
{
    const struct trace_location *lines = at->places->trace->locations, *own = &lines[location];
    bool makes = false;
    for (uint32_t place = first_place; at->places->items[place].location != location;
         place = at->places->tree.nodes[place].outer)
        if (torch_is(at->places->trace->locations[at->places->items[place].location].means,
                     TORCH_container))
            return false;
    for (size_t i = 0; i < at->count && !makes; i++) {
        const struct live_block *block = &at->items[i];
        if (block->part != PART_DATA && block->part != PART_INIT)
            continue;
        const uint32_t line = line_of_program(at, block->place);
        makes = line && line != location && lines[line].file_id == own->file_id &&
                lines[line].function_id == own->function_id;
    }
    return makes;
}

/* The function that the line calls on the way to the place; 0: an operator, or none. */
static uint32_t function_called(const struct at_moment *at, uint32_t location, uint32_t place)
{
    const struct trace_location *lines = at->places->trace->locations;
    uint32_t function_id = 0;
    for (; at->places->items[place].location != location;
         place = at->places->tree.nodes[place].outer) {
        const uint32_t called = at->places->items[place].location;
        if (called != PLACE_NATIVE && !torch_is(lines[called].means, TORCH_module_call))
            function_id = lines[called].function_id;
    }
    return function_id;
}

/* True if the first place of the complete calls comes back within a call: another place repeats
 * less than half as often as the most frequent one, or the line calls another function less often.
 */
static bool comes_back_in_call(const struct at_moment *at, uint32_t location,
                               const struct passages *complete)
{
    const uint64_t most = most_count(complete);
    const struct passage *first = complete->items;
    for (size_t i = 0; i < complete->count; i++) {
        const struct passage *other = &complete->items[i];
        if (other->count > 1 &&
            (other->count * 2 < most ||
             (other->count < first->count && function_called(at, location, other->place) !=
                                                 function_called(at, location, first->place))))
            return true;
    }
    return false;
}

/* Returns the number of live blocks before the last call that begins with the place. */
static size_t count_complete(const struct at_moment *at, uint32_t location, uint32_t first)
{
    size_t limit = at->count;
    bool is_first = false;
    for (size_t i = at->count; i-- > 0;) {
        const struct live_block *block = &at->items[i];
        if (!is_of_this_forward(at, block) || !place_is_under(at->places, block->place, location))
            continue;
        if (is_first && block->place != first)
            break;
        is_first = block->place == first;
        limit = is_first ? i : limit;
    }
    return limit;
}

/* Finds whether each return of the first place begins a call. It does not in four cases: the line
 * is in a torch.nn.Sequential, whose layers come back within one call; comes_back_in_call(); a
 * place comes before the first one, because in that case the line makes a single call that contains
 * a loop; or the line's function makes batches or the model. */
static int find_tells_calls(bool *tells, const struct at_moment *at, uint32_t location,
                            uint32_t first, struct err *err)
{
    struct passages complete = {0};
    if (find_passages(at, location, count_complete(at, location, first), PLACE_NONE, &complete,
                      err)) {
        free(complete.items);
        return -1;
    }
    *tells = complete.count && complete.items->place == first &&
             !comes_back_in_call(at, location, &complete) && !is_in_sequence(at, first) &&
             !calls_once(at, location, first);
    free(complete.items);
    return 0;
}

/* Returns 1 if the line makes several calls, and sets the first place and the output place in
 * *calls. Returns 0 if it does not. */
static int find_calls(const struct at_moment *at, uint32_t location, struct calls *calls,
                      uint64_t *count, struct err *err)
{
    struct passages firsts = {0}, lasts = {0};
    bool tells = false;
    int status = -1;
    if (find_passages(at, location, at->count, PLACE_NONE, &firsts, err))
        goto out;
    const struct passage *first = first_common(&firsts);
    status = 0;
    if (!first || first->count < 2 || !comes_back(at, location, &firsts))
        goto out;
    if (find_passages(at, location, at->count, first->place, &lasts, err) ||
        find_tells_calls(&tells, at, location, first->place, err)) {
        status = -1;
        goto out;
    }
    const struct passage *last = most_common(&lasts);
    *calls = (struct calls){.location = location,
                            .tells_calls = tells,
                            .first_place = first->place,
                            .output_place = last ? last->place : first->place};
    *count = first->count;
    status = 1;
out:
    free(firsts.items);
    free(lasts.items);
    return status;
}

int at_moment_lines(const struct at_moment *at, struct without *without,
                    uint64_t counts[WITHOUT_LINES_MAX], struct err *err)
{
    const size_t limit = at->places->trace->location_limit;
    const uint64_t worthy_bytes = at->bytes_by_part[PART_FORWARD] / WORTHY_LINE_DIVISOR + 1;
    struct line *lines = array_new(limit, sizeof *lines, err);
    int status = -1;
    if (!lines)
        return -1;
    for (size_t i = 0; i < at->count; i++)
        if (is_of_this_forward(at, &at->items[i]))
            add_to_lines(at, lines, i);
    note_optimizers(at, lines);
    SORT(lines, limit, compare_lines);
    for (size_t i = 0;
         i < limit && without->line_count < WITHOUT_LINES_MAX && lines[i].bytes >= worthy_bytes;
         i++) {
        const size_t number = without->line_count;
        if (lines[i].location == PLACE_NATIVE || lines[i].runs_a_step ||
            !places_line_is_of_program(at->places, lines[i].location))
            continue;
        const int found =
            find_calls(at, lines[i].location, &without->lines[number], &counts[number], err);
        if (found < 0)
            goto out;
        if (found)
            calls_init(&without->lines[without->line_count++]);
    }
    status = 0;
out:
    free(lines);
    return status;
}

/* --- losses --- */

/* A loss is a single number that the program's own code, or a loss function, allocated. */
static bool is_loss(const struct at_moment *at, const struct live_block *block)
{
    const struct place *place = &at->places->items[block->place];
    return block->size_bytes <= LOSS_BYTES && place->location != PLACE_NATIVE &&
           (torch_is(place->signs, TORCH_loss) ||
            places_line_is_of_program(at->places, place->location));
}

/* True for a batch: data, or a tensor that the program makes outside its modules and that no
 * operator of a graph made. */
static bool is_of_new_batch(const struct at_moment *at, const struct live_block *block)
{
    const bool is_made = block->part == PART_FORWARD && at->tells_graphs && !block->is_of_graph &&
                         block->size_bytes > LOSS_BYTES &&
                         !torch_is(at->places->items[block->place].signs, TORCH_module_call);
    return (block->part == PART_DATA || is_made) && block->begin_index >= at->iteration_index;
}

int at_moment_sums_losses(const struct at_moment *at, bool *sums, struct err *err)
{
    bool *is_known = array_new(at->places->count, sizeof *is_known, err);
    uint64_t new_bytes = 0, again_bytes = 0;
    size_t first = at->count, loss = at->count;
    bool has_data = false;
    *sums = false;
    if (!is_known)
        return -1;
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        has_data |= is_of_new_batch(at, block);
        if (!is_of_this_forward(at, block))
            continue;
        first = first == at->count ? i : first;
        if (!is_loss(at, block)) {
            *(is_known[block->place] ? &again_bytes : &new_bytes) += block->size_bytes;
            continue;
        }
        *sums |= loss < i && has_data && again_bytes > new_bytes;
        for (size_t n = first; n < i; n++)
            is_known[at->items[n].place] |= is_of_this_forward(at, &at->items[n]);
        first = loss = i;
        new_bytes = again_bytes = 0;
        has_data = false;
    }
    *sums |= loss < at->count && has_data && again_bytes > new_bytes;
    free(is_known);
    return 0;
}

bool at_moment_keeps_graph(const struct at_moment *at, uint32_t location)
{
    uint64_t bytes = 0, kept_bytes = 0;
    for (size_t i = 0; i < at->count; i++) {
        const struct live_block *block = &at->items[i];
        if (block->part != PART_FORWARD ||
            (location && !place_is_under(at->places, block->place, location)))
            continue;
        bytes += block->size_bytes;
        kept_bytes += block->is_of_graph ? block->size_bytes : 0;
    }
    return !at->tells_graphs || kept_bytes >= bytes - kept_bytes;
}

uint32_t at_moment_callee(const struct at_moment *at, uint32_t location)
{
    for (size_t i = 0; i < at->count; i++) {
        uint32_t callee = 0;
        uint32_t place = at->items[i].place;
        if (at->items[i].part != PART_FORWARD || !place_is_under(at->places, place, location))
            continue;
        for (; at->places->items[place].location != location;
             place = at->places->tree.nodes[place].outer)
            if (places_line_is_of_program(at->places, at->places->items[place].location))
                callee = at->places->items[place].location;
        if (callee)
            return callee;
    }
    return 0;
}
