/* SPDX-License-Identifier: MIT */
/* Memory that explains a peak; see causes.h. */
#include "causes.h"

#include "analyzer/replay/history/live_walk.h"

static const struct {
    const char *text, *remedy;
} words[] = {
#define CAUSE(key, text, remedy) {text, remedy},
#include "analyzer/analysis/causes.def"
};

const char *cause_text(enum cause cause)
{
    return words[cause].text;
}

const char *cause_remedy(enum cause cause)
{
    return words[cause].remedy;
}

/* --- replaced memory --- */

enum side { SIDE_OTHER, SIDE_OLD, SIDE_NEW };

/* Sets *category. `round` is the number of backwards that began before the moment. */
static enum side side_of(enum category *category, const struct categories *categories,
                         const struct block *block, uint32_t round)
{
    const uint32_t end_round = block_end_round(categories->history, block);
    const bool is_old =
        block->birth_round < round && end_round == round && block->end != BLOCK_LIVE;
    const bool is_new = block->birth_round == round && end_round > round;
    if (block->memory != MEMORY_TENSOR || (!is_old && !is_new))
        return SIDE_OTHER;
    *category = categories_of(categories, block);
    if (*category == CATEGORY_activations || *category == CATEGORY_temporaries)
        return SIDE_OTHER;
    return is_old ? SIDE_OLD : SIDE_NEW;
}

/* Counts the new blocks by category and size. */
static int count_new(struct pair_map *counts, const struct categories *categories, uint32_t round,
                     struct live_walk walk, struct err *err)
{
    const struct block *block;
    enum category category;
    while ((block = live_walk_next(&walk))) {
        if (side_of(&category, categories, block, round) != SIDE_NEW)
            continue;
        const uint32_t count = pair_map_get(counts, category, block->size_bytes);
        if (pair_map_put(counts, category, block->size_bytes,
                         count == PAIR_MAP_NONE ? 1 : count + 1, err))
            return -1;
    }
    return 0;
}

/* Sums the old blocks, each with a new block of its category and size. */
static int add_replaced(uint64_t *bytes, struct pair_map *counts,
                        const struct categories *categories, uint32_t round, struct live_walk walk,
                        struct err *err)
{
    const struct block *block;
    enum category category;
    while ((block = live_walk_next(&walk))) {
        if (side_of(&category, categories, block, round) != SIDE_OLD)
            continue;
        const uint32_t count = pair_map_get(counts, category, block->size_bytes);
        if (count == PAIR_MAP_NONE || !count)
            continue;
        if (pair_map_put(counts, category, block->size_bytes, count - 1, err))
            return -1;
        *bytes += block->size_bytes;
    }
    return 0;
}

/* --- gradients that are not dropped --- */

enum { UNDROPPED_ROUNDS = 3 };

/* The most backwards that a gradient saw before a step dropped it; 0: none was dropped. */
static uint32_t longest_gradient(const struct categories *categories)
{
    const struct history *history = categories->history;
    const struct block *ended = history->ended_blocks.items;
    uint32_t longest = 0;
    for (size_t i = 0; i < history->ended_blocks.count; i++) {
        const uint32_t rounds = block_rounds(history, &ended[i]) + 1;
        if (ended[i].memory == MEMORY_TENSOR && rounds > longest &&
            block_end_round(history, &ended[i]) < history->rounds_count &&
            categories_of(categories, &ended[i]) == CATEGORY_gradients)
            longest = rounds;
    }
    return longest;
}

/* True if the gradient lived through the last backward, and through more than twice as many as
 * those that were dropped. */
static bool is_undropped(const struct categories *categories, const struct block *block,
                         uint32_t longest)
{
    const uint32_t rounds = block_rounds(categories->history, block);
    const bool is_last =
        block_end_round(categories->history, block) == categories->history->rounds_count;
    return longest && is_last && block->memory == MEMORY_TENSOR && rounds >= UNDROPPED_ROUNDS &&
           rounds > 2 * longest && categories_of(categories, block) == CATEGORY_gradients;
}

int causes_at(struct causes *causes, const struct categories *categories, uint32_t account,
              uint64_t index, struct err *err)
{
    const struct history *history = categories->history;
    const struct block *block, *youngest = NULL;
    struct pair_map counts = {0};
    *causes = (struct causes){.youngest = CATEGORY_other};
    const uint32_t longest = longest_gradient(categories);
    struct live_walk walk = live_walk_begin(history, account, index);
    while ((block = live_walk_next(&walk))) {
        const enum cause cause = categories_cause_of(categories, block);
        if (cause != CAUSE_COUNT)
            causes->bytes[cause] += block->size_bytes;
        if (is_undropped(categories, block, longest))
            causes->bytes[CAUSE_undropped] += block->size_bytes;
        if (!youngest || block->life.begin_index > youngest->life.begin_index)
            youngest = block;
    }
    if (!youngest)
        return 0;
    causes->youngest = categories_of(categories, youngest);
    const uint32_t round = youngest->birth_round;
    const int status =
        count_new(&counts, categories, round, live_walk_begin(history, account, index), err) ||
        add_replaced(&causes->bytes[CAUSE_replaced], &counts, categories, round,
                     live_walk_begin(history, account, index), err);
    pair_map_release(&counts);
    return status ? -1 : 0;
}
