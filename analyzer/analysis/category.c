/* SPDX-License-Identifier: MIT */
/* Categories of memory, and the rules that find them; see category.h. */
#include "category.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/util/array.h"
#include "category_frames.h"

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

int categories_init(struct categories *categories, const struct history *history,
                    struct symbols *symbols, struct err *err)
{
    *categories = (struct categories){.history = history, .symbols = symbols};
    categories->casting_places = array_new(1, sizeof *categories->casting_places, err);
    categories->of_copy = array_new(history->trace->frame_limit, 1, err);
    categories->own_weights = array_new(1, sizeof *categories->own_weights, err);
    if (categories->casting_places && categories->of_copy && categories->own_weights &&
        !category_frames_init(categories, err))
        return 0;
    categories_release(categories);
    return -1;
}

void categories_release(struct categories *categories)
{
    free(categories->of_stack);
    free(categories->of_function);
    free(categories->of_maker);
    free(categories->of_copy);
    if (categories->casting_places)
        pair_map_release(categories->casting_places);
    if (categories->own_weights)
        pair_map_release(categories->own_weights);
    free(categories->casting_places);
    free(categories->own_weights);
    *categories = (struct categories){0};
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
 * The first batch after an evaluation. Only the program's own line is in its stack, so the forward
 * of the evaluation goes on. Autograd did not record it, so the program did not compute it from
 * weights.
 */
static bool is_batch(const struct categories *categories, const struct block *block)
{
    return trace_tells_autograd(categories->history->trace) && !block->is_of_framework &&
           is_inferred(categories->history, block) &&
           category_made(categories, block) == MADE_values;
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
static enum category of_forward(const struct categories *categories, const struct block *block)
{
    const struct history *history = categories->history;
    const bool tells = trace_tells_autograd(history->trace);
    const bool died = history->failures_in_all || !history->has_exit;
    const uint32_t rounds = block_rounds(history, block);
    if (!history->rounds_count)
        return tells && died && block->is_of_graph ? CATEGORY_activations
                                                   : of_result(history, block);
    if (block->is_of_graph)
        return CATEGORY_activations;
    if (rounds == 1)
        return is_batch(categories, block) ? CATEGORY_input : CATEGORY_activations;
    if (rounds > 1)
        return CATEGORY_other;
    return block->end == BLOCK_LIVE && !tells ? CATEGORY_activations : of_result(history, block);
}

/*
 * Memory of which only the program's own lines and the order of events tell the phase: made by a
 * class in its constructor, or after the model or a step (data). Memory of a framework's functions,
 * of forward and of backward is left out.
 */
static bool is_own(const struct history *history, const struct block *block)
{
    if (block->memory != MEMORY_TENSOR || block->is_of_framework)
        return false;
    if (block->deciding_path == HISTORY_NONE)
        return true;
    const enum category kept = category_of_rule(history->paths[block->deciding_path].rule);
    return is_inferred(history, block) && (kept == CATEGORY_parameters || kept == CATEGORY_input);
}

/* --- weights and states that the program's own lines made --- */

static bool is_of_init(const struct history *history, const struct block *block)
{
    return block->memory == MEMORY_TENSOR && block->deciding_path != HISTORY_NONE &&
           category_of_rule(history->paths[block->deciding_path].rule) == CATEGORY_parameters;
}

/* Counts by size the tensors that stay and may be weights: all but those filled with a constant. */
static int count_weights(struct pair_map *weights, const struct categories *categories,
                         const struct block *block, struct err *err)
{
    const struct history *history = categories->history;
    const uint32_t count = pair_map_get(weights, 0, block->size_bytes);
    if (block->account == HISTORY_NONE || !block_stays(history, block) ||
        !(is_own(history, block) || is_of_init(history, block)) ||
        category_made(categories, block) == MADE_constant)
        return 0;
    return pair_map_put(weights, 0, block->size_bytes, count == PAIR_MAP_NONE ? 1 : count + 1, err);
}

static void find_weights(struct pair_map *weights, const struct categories *categories)
{
    const struct history *history = categories->history;
    const struct block *ended = history->ended_blocks.items;
    struct err unread; /* if memory runs out, the weights are unknown */

    /* Says that the weights are known, even if there are none. No size has this key. */
    if (pair_map_put(weights, 1, 0, 0, &unread))
        return;
    for (size_t i = 0; i < history->block_slots.used; i++)
        if (count_weights(weights, categories, &history->blocks[i], &unread))
            return;
    for (size_t i = 0; i < history->ended_blocks.count; i++)
        if (count_weights(weights, categories, &ended[i], &unread))
            return;
}

/*
 * If as many tensors of a size stay as backward leaves gradients of that size, each of them is a
 * weight. A tensor of that size that stays and that the program filled with a constant belongs to
 * its own optimizer. CATEGORY_COUNT: the numbers differ, so they tell nothing.
 */
static enum category of_own_weights(const struct categories *categories, const struct block *block)
{
    const struct history *history = categories->history;
    struct pair_map *weights = categories->own_weights;
    if (!is_own(history, block) || !block_stays(history, block) ||
        category_made(categories, block) == MADE_unknown)
        return CATEGORY_COUNT;
    if (!weights->count)
        find_weights(weights, categories);
    const uint32_t count = pair_map_get(weights, 0, block->size_bytes);
    if (count == PAIR_MAP_NONE ||
        count != pair_map_get(&history->sizes, SIZE_OF_GRADIENT, block->size_bytes))
        return CATEGORY_COUNT;
    return category_made(categories, block) == MADE_constant ? CATEGORY_optimizer
                                                             : CATEGORY_parameters;
}

/*
 * A checkpoint brings weights, or copies of weights that the model has already, and states of an
 * optimizer. If more tensors of a size stay than backward leaves gradients of that size, nothing
 * tells which of them are weights.
 */
static bool may_be_weight(const struct categories *categories, const struct block *block)
{
    struct pair_map *weights = categories->own_weights;
    const uint32_t gradients =
        pair_map_get(&categories->history->sizes, SIZE_OF_GRADIENT, block->size_bytes);
    if (!weights->count)
        find_weights(weights, categories);
    const uint32_t count = pair_map_get(weights, 0, block->size_bytes);
    return count == PAIR_MAP_NONE || gradients == PAIR_MAP_NONE || count <= gradients;
}

/* --- inputs --- */

/*
 * Memory made between steps is an input if the program names the phase or loaded the tensor, or if
 * the next backward used it up. A tensor that the program fills later, or that has the size of a
 * parameter, may be a cache, a state or a copy of weights instead.
 */
static enum category of_data(const struct categories *categories, const struct block *block)
{
    const struct history *history = categories->history;
    const enum made made = category_made(categories, block);
    const bool is_loaded =
        made == MADE_values && !has_size(categories, SIZE_OF_INIT, block->size_bytes);
    const bool is_input = made == MADE_unknown || is_loaded ||
                          (made != MADE_computed &&
                           (!is_inferred(history, block) || block_rounds(history, block) == 1));
    return is_input ? CATEGORY_input : of_result(history, block);
}

/* --- memory of a framework's phases --- */

/*
 * Memory that autograd records inside a backward is an activation that a checkpoint computes again,
 * or the graph of a gradient (create_graph). The activation is no gradient, even if the program
 * died before backward used it up.
 */
static enum category of_backward(const struct categories *categories, const struct block *block)
{
    const bool is_recomputed =
        block->is_of_graph &&
        category_of_function(categories, site_stack(block->site_id)) == CATEGORY_recomputed;
    return block->outlived && !is_recomputed ? CATEGORY_gradients
           : block->is_of_graph              ? CATEGORY_activations
                                             : CATEGORY_temporaries;
}

/* True if the program died of a failed allocation while the block was live. Then the end of the
 * block does not tell what it was for. */
static bool is_ended_by_failure(const struct history *history, const struct block *block)
{
    const size_t count = history->failure_count;
    return count && !history->failures[count - 1].went_on && block->end != BLOCK_LIVE &&
           life_covers(&block->life, history->failures[count - 1].at.index);
}

/* The category by the innermost phase with a rule around the block's birth, and by its use. */
static enum category of_phase(const struct categories *categories, const struct block *block)
{
    const struct history *history = categories->history;
    const enum category own = of_own_weights(categories, block);
    if (own != CATEGORY_COUNT || block->deciding_path == HISTORY_NONE)
        return own == CATEGORY_COUNT ? CATEGORY_other : own;
    const uint8_t rule = history->paths[block->deciding_path].rule;
    const enum category category =
        (enum category)(block->outlived ? rules[rule].kept : rules[rule].passing);
    if (rule == PATH_RULE_FORWARD)
        return of_forward(categories, block);
    if (rule == PATH_RULE_BACKWARD)
        return of_backward(categories, block);
    if (category == CATEGORY_input)
        return of_data(categories, block);
    if (category == CATEGORY_temporaries && rules[rule].kept == CATEGORY_parameters &&
        is_ended_by_failure(history, block))
        return CATEGORY_other;
    /* A data set has constructors too. */
    if (category == CATEGORY_parameters && is_own(history, block) &&
        !has_size(categories, SIZE_OF_GRADIENT, block->size_bytes))
        return CATEGORY_other;
    return category;
}

static uint8_t of_owner(const struct categories *categories, const struct block *block)
{
    return block->memory == MEMORY_TENSOR
               ? category_of_function(categories, site_stack(block->site_id))
               : category_of_library(categories, site_stack(block->site_id));
}

/* --- copies of weights --- */

/* Adds up the uses of the stacks that cast for the same argument, on any line of the program. */
static void find_casting_places(struct pair_map *places, const struct categories *categories)
{
    const struct history *history = categories->history;
    struct err unread; /* if memory runs out, the places are unknown */

    for (uint32_t i = 0; i < history->stack_count; i++) {
        const uint32_t own = history->stacks[i].uses;
        const uint64_t place = own ? category_casting_place(categories, i) : 0;
        const uint32_t known = place ? pair_map_get(places, 0, place) : PAIR_MAP_NONE;
        const uint32_t uses = own | (known == PAIR_MAP_NONE ? 0 : known);

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
    const uint32_t uses = pair_map_get(places, 0, category_casting_place(categories, stack_id));
    const bool is_copy = uses != PAIR_MAP_NONE && !(uses & STACK_HAS_NO_HALF) &&
                         (uses & STACK_IS_TRAINED || !categories->history->rounds_count);
    categories->of_copy[stack_id] = 1 + is_copy;
    return is_copy;
}

enum category categories_of(const struct categories *categories, const struct block *block)
{
    if (block->is_segment)
        return CATEGORY_other;
    const uint8_t category = of_owner(categories, block);
    if (category == CATEGORY_cast && is_weight_copy(categories, site_stack(block->site_id)))
        return CATEGORY_temporaries;
    if (category == CATEGORY_loaded && !may_be_weight(categories, block))
        return CATEGORY_other;
    if (category == CATEGORY_clipping) /* it makes no state, even if the program keeps the norm */
        return of_result(categories->history, block);
    return category < CATEGORY_COUNT ? (enum category)category : of_phase(categories, block);
}

enum { FORWARDS_FEWEST = 3 };

/* True if autograd keeps a result of a forward that ran again and again, and no backward ever ran.
 * A program that died might still have run one. */
static bool is_of_unused_graph(const struct history *history, const struct block *block)
{
    const uint32_t stack_id = site_stack(block->site_id);
    return block->is_of_graph && !history->rounds_count && history->has_exit &&
           !history->failures_in_all && stack_id < history->stack_count &&
           history->stacks[stack_id].count >= FORWARDS_FEWEST;
}

enum cause categories_cause_of(const struct categories *categories, const struct block *block)
{
    if (block->memory != MEMORY_TENSOR)
        return CAUSE_COUNT;
    const enum category category = categories_of(categories, block);
    const bool is_activation = category == CATEGORY_activations;
    const uint8_t function = category_of_function(categories, site_stack(block->site_id));
    /* Autocast turns the recording on for its casts, also under no_grad. */
    if (function != CATEGORY_cast && is_of_unused_graph(categories->history, block))
        return CAUSE_unused_graph;
    switch (function) {
    case CATEGORY_cast:
        return is_weight_copy(categories, site_stack(block->site_id)) ? CAUSE_weight_copies
                                                                      : CAUSE_COUNT;
    case CATEGORY_recomputed:
        return is_activation && block_is_of_backward(categories->history, block) ? CAUSE_recomputed
                                                                                 : CAUSE_COUNT;
    case CATEGORY_parametrized:
        return is_activation ? CAUSE_parametrized : CAUSE_COUNT;
    case CATEGORY_foreach:
        return category == CATEGORY_temporaries ? CAUSE_foreach : CAUSE_COUNT;
    default:
        return CAUSE_COUNT;
    }
}

bool categories_stays(const struct categories *categories, const struct block *block)
{
    if (block_rounds(categories->history, block) < BLOCK_STAYS_ROUNDS)
        return false;
    const enum category category = categories_of(categories, block);
    return block_stays(categories->history, block) || category == CATEGORY_parameters ||
           category == CATEGORY_buffers || category == CATEGORY_optimizer;
}

bool categories_is_workspace(const struct categories *categories, uint32_t stack_id)
{
    return category_of_function(categories, stack_id) == CATEGORY_workspace;
}
