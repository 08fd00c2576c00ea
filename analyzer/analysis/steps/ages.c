/* SPDX-License-Identifier: MIT */
/* Ages of the blocks that are live at the peak; see ages.h. */
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

/* The age of a block. own->peak_ends[0] is the beginning of the step of the peak. */
static enum age age_of(const struct account_steps *own, const struct block *block,
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

/* Describes one block. After sum_up, its byte count is the total for all blocks with the same age
 * and stacks. */
struct held {
    enum age age;
    uint64_t site_id, bytes;
};

ORDER_BY(compare_held, struct held, RISING(age), site_id_compare(a->site_id, b->site_id));

/* Lists the live blocks. If `left` is set, lists only those of the step before that it takes. The
 * caller frees *held, even if this returns -1. */
static int find_held(struct held **held, size_t *count, const struct account_steps *own,
                     const struct step_watch *watch, const struct block_filter *left,
                     struct live_walk walk, struct err *err)
{
    const struct block *block;
    size_t capacity = 0;
    while ((block = live_walk_next(&walk))) {
        const enum age age = age_of(own, block, watch->first_end_index);
        if (left && (age != AGE_BEFORE || !left->takes(left->self, block)))
            continue;
        if (ARRAY_GROW(*held, capacity, *count, err))
            return -1;
        (*held)[(*count)++] = (struct held){age, block->site_id, block->size_bytes};
    }
    SORT(*held, *count, compare_held);
    return 0;
}

/* Sums the bytes by age and stacks. `held` must be sorted, so that blocks with the same age and
 * stacks are adjacent. */
static void sum_up(struct age_row *rows, struct held *held, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct age_row *row = &rows[held[i].age];
        row->bytes += held[i].bytes;
        row->count++;
        if (i && !compare_held(&held[i - 1], &held[i]))
            held[i].bytes += held[i - 1].bytes;
        if (row->count > 1 && held[i].bytes <= row->site_bytes)
            continue;
        row->site_bytes = held[i].bytes;
        row->site_id = held[i].site_id;
    }
}

static int find_rows(struct age_row *rows, const struct step_watch *watch,
                     const struct block_filter *left, const struct history *history,
                     uint32_t account, struct err *err)
{
    const struct account_steps *own = step_watch_of(watch, account);
    const struct live_walk walk =
        live_walk_begin(history, account, history->accounts[account].peak.index);
    struct held *held = NULL;
    size_t count = 0;
    const int status = find_held(&held, &count, own, watch, left, walk, err);
    if (!status)
        sum_up(rows, held, count);
    free(held);
    return status;
}

int ages_at_peak(struct ages *ages, const struct step_watch *watch, const struct history *history,
                 uint32_t account, const struct block_filter *left, struct err *err)
{
    const struct account_steps *own = step_watch_of(watch, account);
    struct age_row rows[AGE_COUNT] = {0};
    *ages = (struct ages){0};
    if (!own || !own->peak_ordinal || !watch->step_count ||
        history->accounts[account].peak.index == INDEX_NONE)
        return 0;
    ages->ordinal = own->peak_ordinal;
    if (find_rows(ages->rows, watch, NULL, history, account, err) ||
        find_rows(rows, watch, left, history, account, err))
        return -1;
    ages->left = rows[AGE_BEFORE];
    return 0;
}
