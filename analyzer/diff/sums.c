/* SPDX-License-Identifier: MIT */
/* Sums a change by category and by phase; see diff_tree.h. */
#include "diff_tree.h"

#include <string.h>

#include "analyzer/util/array.h"

static int64_t delta_of(const struct diff_sum *sum)
{
    return (int64_t)(sum->bytes[1] - sum->bytes[0]);
}

ORDER_BY(compare_sums, struct diff_sum, FALLING_IN(delta_of),
         strcmp(a->name ? a->name : "", b->name ? b->name : ""));

int diff_tree_sums(struct diff_sum **sums, enum diff_by by, const struct holding *before,
                   const struct holding *after, struct err *err)
{
    const struct holding *const sides[] = {before, after};
    const size_t outside = after->names->count;
    const size_t most = by == DIFF_BY_CATEGORY ? CATEGORY_COUNT : outside + 1;
    struct diff_sum *found = array_new(most, sizeof *found, err);
    int count = 0;
    if (!found)
        return -1;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->count; i++) {
            const struct held_site *site = &sides[side]->items[i];
            const bool has_phase = site->phase != TEXT_SET_NONE;
            const size_t phase = has_phase ? site->phase : outside;
            struct diff_sum *sum = &found[by == DIFF_BY_CATEGORY ? (size_t)site->category : phase];

            sum->name = by == DIFF_BY_CATEGORY ? category_key(site->category)
                        : has_phase            ? after->names->texts[phase]
                                               : NULL;
            sum->bytes[side] += site->bytes;
            sum->counts[side] += site->count;
        }
    for (size_t i = 0; i < most; i++)
        if (found[i].bytes[0] != found[i].bytes[1])
            found[count++] = found[i];
    SORT(found, count, compare_sums);
    *sums = found;
    return count;
}
