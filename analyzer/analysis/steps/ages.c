/* SPDX-License-Identifier: MIT */
/* How old what is live at the peak is; see ages.h. */
#include "ages.h"

#include <stdlib.h>

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

const char *age_text(enum age age)
{
    static const char *const texts[] = {[AGE_THIS] = "this step",
                                        [AGE_BEFORE] = "the step before",
                                        [AGE_TWO_BEFORE] = "two steps before",
                                        [AGE_EARLIER] = "earlier steps",
                                        [AGE_FIRST] = "the first step, and before"};

    return texts[age];
}

/* own->peak_ends[0] is where the step of the peak began. */
static enum age age_of(const struct stock_steps *own, const struct block *block,
                       uint64_t first_end_index)
{
    const uint64_t begin = block->life.begin_index;

    if (own->peak_ordinal == 1)
        return AGE_THIS;
    if (begin < first_end_index)
        return AGE_FIRST;
    for (int age = 0; age <= STEP_AGES; age++)
        if (begin >= own->peak_ends[age])
            return (enum age)age;
    return AGE_EARLIER;
}

/* Sums by call stack, of one age. */
static void find_holder(struct ages *ages, enum age age, const struct stock_steps *own,
                        const struct step_watch *watch, struct live_walk walk, uint64_t *sums)
{
    const struct block *block;
    uint64_t most_bytes = 0;

    while ((block = live_walk_next(&walk))) {
        if (age_of(own, block, watch->first_end_index) != age)
            continue;
        ages->rows[age].bytes += block->size_bytes;
        ages->rows[age].count++;
        uint64_t *sum = &sums[block->stack_id];
        *sum += block->size_bytes;
        if (*sum < most_bytes || (ages->rows[age].count > 1 && *sum == most_bytes &&
                                  block->stack_id > ages->rows[age].stack_id))
            continue;
        most_bytes = *sum;
        ages->rows[age].stack_id = block->stack_id;
    }
    ages->rows[age].stack_bytes = most_bytes;
}

static void clear_sums(uint64_t *sums, struct live_walk walk)
{
    const struct block *block;

    while ((block = live_walk_next(&walk)))
        sums[block->stack_id] = 0;
}

int ages_at_peak(struct ages *ages, const struct step_watch *watch, const struct history *history,
                 uint32_t stock, struct err *err)
{
    const struct stock_steps *own = step_watch_of(watch, stock);
    const uint64_t peak_index = history->stocks[stock].peak.index;

    *ages = (struct ages){0};
    if (!own || !own->peak_ordinal || !watch->step_count || peak_index == INDEX_NONE)
        return 0;
    ages->ordinal = own->peak_ordinal;
    uint64_t *sums = array_new(own->stack_limit, sizeof *sums, err);
    if (!sums)
        return -1;
    for (int age = 0; age < AGE_COUNT; age++) {
        const struct live_walk walk = live_walk_begin(history, stock, peak_index);
        find_holder(ages, (enum age)age, own, watch, walk, sums);
        clear_sums(sums, walk);
    }
    free(sums);
    return 0;
}
