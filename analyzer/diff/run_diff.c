/* SPDX-License-Identifier: MIT */
/* The change between two moments; see run_diff.h. */
#include "run_diff.h"

static int hold_side(struct run_diff *change, int number, const struct run_diff_side *side,
                     struct err *err)
{
    struct holding *holding = &change->sides[number];

    if (side->kept)
        return baseline_holding(holding, &change->names, side->kept, err);
    if (!side->study) {
        *holding = (struct holding){.names = &change->names, .folder = ""};
        return 0;
    }
    return holding_of(holding, &change->names, side->study, side->stock, side->index, err);
}

int run_diff_find(struct run_diff *change, const struct run_diff_side *before,
                  const struct run_diff_side *after, struct err *err)
{
    *change = (struct run_diff){0};
    if (!hold_side(change, 0, before, err) && !hold_side(change, 1, after, err) &&
        !diff_tree_find(&change->difference, &change->sides[0], &change->sides[1], err))
        return 0;
    run_diff_release(change);
    return -1;
}

void run_diff_release(struct run_diff *change)
{
    diff_tree_release(&change->difference);
    holding_release(&change->sides[0]);
    holding_release(&change->sides[1]);
    text_set_release(&change->names);
}

const struct diff_row *run_diff_guilty(const struct run_diff *change)
{
    const struct diff_tree *difference = &change->difference;

    return difference->row_count && difference->rows[0].delta_bytes > 0 ? difference->rows : NULL;
}
