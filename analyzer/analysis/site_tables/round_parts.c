/* SPDX-License-Identifier: MIT */
/* The parts of the memory of a training; see round_parts.h. */
#include "round_parts.h"

#include "analyzer/thresholds/thresholds.h"

struct part_filter {
    const struct categories *categories;
    enum round_part part;
    bool is_evaluation; /* the moment is in one */
};

static enum category category_made(const struct history *history, const struct block *block)
{
    return category_of_rule(block->deciding_path == HISTORY_NONE
                                ? PATH_RULE_NONE
                                : history->paths[block->deciding_path].rule);
}

static bool is_of_training(const struct history *history, const struct block *block)
{
    const enum category made = category_made(history, block);
    return made == CATEGORY_gradients || made == CATEGORY_optimizer;
}

static const struct stack_births *births_of(const struct history *history,
                                            const struct block *block)
{
    const uint32_t stack_id = site_stack(block->site_id);
    return stack_id && stack_id < history->stack_count ? &history->stacks[stack_id] : NULL;
}

/* True for a block that no backward and no optimizer made, and that no backward followed. */
static bool is_after_backwards(const struct history *history, const struct block *block)
{
    return block->birth_round == history->rounds_count && !is_of_training(history, block) &&
           !history->failures_in_all;
}

/* True if the block's call stack is known and allocated in one round of several. */
static bool is_of_one_round(const struct history *history, const struct block *block)
{
    const struct stack_births *births = births_of(history, block);
    return births && history->rounds_count > 1 && births->first_round == births->last_round;
}

/* True if no backward began while the block was live, and its call stack allocated in at most half
 * of the rounds from its first to its last. */
static bool is_between_backwards(const struct history *history, const struct block *block)
{
    const struct stack_births *births = births_of(history, block);
    return births && !block_rounds(history, block) && !is_of_training(history, block) &&
           2 * births->rounds_count <= births->last_round - births->first_round + 1;
}

bool round_part_is_kept(const struct categories *categories, const struct block *block)
{
    return !categories_stays(categories, block) &&
           block_rounds(categories->history, block) >= BLOCK_STAYS_ROUNDS;
}

static enum round_part part_of(const struct part_filter *filter, const struct block *block)
{
    const struct history *history = filter->categories->history;
    if (categories_stays(filter->categories, block))
        return PART_STAYING;
    if (round_part_is_kept(filter->categories, block))
        return PART_KEPT;
    if (filter->is_evaluation && !block_rounds(history, block) &&
        category_made(history, block) == CATEGORY_gradients)
        return PART_LEFT;
    return is_after_backwards(history, block)     ? PART_AFTER
           : is_of_one_round(history, block)      ? PART_ONCE
           : is_between_backwards(history, block) ? PART_BETWEEN
                                                  : PART_PASSING;
}

static bool part_takes(const void *self, const struct block *block)
{
    const struct part_filter *filter = self;
    return part_of(filter, block) == filter->part;
}

static int find_parts(struct sites parts[ROUND_PARTS], const struct categories *categories,
                      uint32_t account, uint64_t index, bool is_evaluation, struct err *err)
{
    for (int i = 0; i < ROUND_PARTS; i++) {
        const struct part_filter part = {categories, (enum round_part)i, is_evaluation};
        const struct block_filter filter = {&part, part_takes};
        sites_release(&parts[i]);
        if (sites_taken_at(&parts[i], categories, account, index, &filter, err))
            return -1;
    }
    return 0;
}

int round_parts_at(struct sites parts[ROUND_PARTS], const struct categories *categories,
                   uint32_t account, uint64_t index, struct err *err)
{
    uint64_t total_bytes = 0;
    if (find_parts(parts, categories, account, index, false, err))
        return -1;
    for (int i = 0; i < ROUND_PARTS; i++)
        total_bytes += parts[i].total_bytes;
    const uint64_t of_evaluation_bytes =
        parts[PART_AFTER].total_bytes + parts[PART_BETWEEN].total_bytes;
    return (double)of_evaluation_bytes > PART_RATIO_MIN * (double)total_bytes
               ? find_parts(parts, categories, account, index, true, err)
               : 0;
}
