/* SPDX-License-Identifier: MIT */
/* The reason of a change, and what undoes it; see how.h. */
#include "how.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"
#include "analyzer/torch/frames.h"

void page_diff_moved(struct opening *opening, const struct run_diff *change)
{
    const bool is_earlier = change->moved_side == 0;
    if (change->moved_side >= 0)
        page_say(opening, VERDICT_why,
                 "The %s in another part of the program; the rows compare with its moment that is "
                 "most like the %s peak, when %s were live.",
                 is_earlier ? "earlier run peaked" : "later run peaks",
                 is_earlier ? "new" : "earlier", BYTES_TEXT(change->alike_bytes));
}

static bool is_nearly_all(uint64_t part, uint64_t whole)
{
    return part >= whole / 10 * 9;
}

/* --- how the lines of a row grew --- */

/* How the growth of a row came about. */
struct row_growth {
    enum diff_how how;            /* of nearly all of the growth; else unknown */
    const struct diff_leaf *leaf; /* the leaf that has nearly all of the growth; NULL: none */
};

static struct row_growth find_growth(const struct diff_tree *difference, const struct diff_row *row)
{
    const uint64_t whole = (uint64_t)row->delta_bytes;
    uint64_t by_how[DIFF_HOW_MORE + 1] = {0};
    struct row_growth growth = {DIFF_HOW_UNKNOWN, NULL};
    if (row->leaf->bytes[1] > row->leaf->bytes[0] &&
        is_nearly_all(row->leaf->bytes[1] - row->leaf->bytes[0], whole))
        return (struct row_growth){diff_leaf_how(row->leaf), row->leaf};
    for (size_t n = row->node; row->node && n < difference->nodes[row->node].end; n++)
        for (size_t i = difference->nodes[n].first_leaf; i < difference->nodes[n].leaf_end; i++) {
            const struct diff_leaf *leaf = &difference->leaves[i];

            if (leaf->bytes[1] > leaf->bytes[0])
                by_how[diff_leaf_how(leaf)] += leaf->bytes[1] - leaf->bytes[0];
        }
    for (int how = DIFF_HOW_LONGER; how <= DIFF_HOW_MORE; how++)
        if (is_nearly_all(by_how[how], whole))
            growth.how = (enum diff_how)how;
    return growth;
}

static const char same[] = "as many blocks as before, of the same size, and";

/* Says that blocks live longer. A free has no call stack, so this names the line whose allocation
 * came last before the free. */
static void say_longer(struct opening *opening, const struct diff_tree *difference,
                       const struct diff_leaf *leaf)
{
    const bool is_told[] = {leaf->lives[0].after_depth > 0, leaf->lives[1].after_depth > 0};
    char before[DIFF_AFTER_BYTES], after[DIFF_AFTER_BYTES];
    if (is_told[0])
        diff_leaf_freed_after(difference, leaf, 0, before);
    if (is_told[0] && !leaf->lives[1].freed_count)
        page_say(opening, VERDICT_why,
                 "It makes %s holds them longer: freed after %s before, never now.", same, before);
    else if (is_told[0] && leaf->is_freed_elsewhere)
        page_say(opening, VERDICT_why,
                 "It makes %s holds them longer: freed after %s before, after %s now.", same,
                 before, diff_leaf_freed_after(difference, leaf, 1, after));
    else if (is_told[0] && !is_told[1])
        page_say(opening, VERDICT_why,
                 "It makes %s holds them longer; before, they were freed after %s.", same, before);
    else
        page_say(opening, VERDICT_why, "It makes %s holds them longer.", same);
}

/* Says how the one leaf of a row grew. Returns 0 if it is not known. */
static int say_leaf(struct opening *opening, const struct diff_tree *difference,
                    const struct row_growth *growth)
{
    const struct diff_leaf *leaf = growth->leaf;
    switch (growth->how) {
    case DIFF_HOW_LONGER:
        say_longer(opening, difference, leaf);
        return 1;
    case DIFF_HOW_LARGER:
        return page_say(opening, VERDICT_why,
                        "It makes as many blocks as before, each %s times as large.",
                        FACTOR_TEXT((double)leaf->each_bytes[1] / (double)leaf->each_bytes[0]));
    case DIFF_HOW_MORE:
        return page_say(opening, VERDICT_why,
                        "It makes %" PRIu64 " blocks where it made %" PRIu64 ", of the same size.",
                        leaf->lives[1].born_count, leaf->lives[0].born_count);
    case DIFF_HOW_UNKNOWN:
        break;
    }
    return 0;
}

/* --- the blocks that were live --- */

static const struct diff_node *node_of(const struct diff_tree *difference,
                                       const struct diff_leaf *leaf)
{
    const size_t number = (size_t)(leaf - difference->leaves);
    for (size_t n = 0; n < difference->node_count; n++)
        if (number >= difference->nodes[n].first_leaf && number < difference->nodes[n].leaf_end)
            return &difference->nodes[n];
    return NULL;
}

/* Adds the line that holds the largest part of the change, if it is below the row's own line. */
static void join_largest(struct opening *opening, const struct diff_tree *difference,
                         const struct diff_row *row)
{
    const struct diff_node *node = node_of(difference, row->leaf);
    const int64_t delta = (int64_t)(row->leaf->bytes[1] - row->leaf->bytes[0]);
    char line[CALL_LINE_BYTES];
    if (!node || node == difference->nodes || node == &difference->nodes[row->node] ||
        (delta > 0) != (row->delta_bytes > 0))
        return;
    page_join(opening, VERDICT_why, "%s of the change is by %s (%s)",
              2 * llabs(delta) > llabs(row->delta_bytes) ? "most" : "the largest part",
              call_line_text(&node->call_line, difference->names, line),
              BYTES_TEXT((uint64_t)llabs(delta)));
}

/* Says what was live of the row in both runs: facts that need no history. */
static void say_blocks(struct opening *opening, const struct diff_row *row)
{
    const uint64_t *counts = row->counts, *bytes = row->bytes;
    if (!counts[0])
        page_say(opening, VERDICT_why, "None of its blocks was live before; %" PRIu64 " %s now.",
                 counts[1], counts[1] == 1 ? "is" : "are");
    else if (!counts[1])
        page_say(opening, VERDICT_why, "None of its blocks is live now; %" PRIu64 " %s before.",
                 counts[0], counts[0] == 1 ? "was" : "were");
    else if (counts[0] == counts[1])
        page_say(opening, VERDICT_why,
                 "As many of its blocks are live as before (%" PRIu64
                 "), on average %s times as large.",
                 counts[1], FACTOR_TEXT((double)bytes[1] / (double)bytes[0]));
    else
        page_say(opening, VERDICT_why,
                 "%" PRIu64 " of its blocks (%s on average) %s live where %" PRIu64
                 " (%s) %s before.",
                 counts[1], BYTES_TEXT(bytes[1] / counts[1]), counts[1] == 1 ? "is" : "are",
                 counts[0], BYTES_TEXT(bytes[0] / counts[0]), counts[0] == 1 ? "was" : "were");
}

/* --- the reason --- */

/* The growth that a larger input or a larger model explains: names what grew. */
static int say_categories(struct opening *opening, const struct run_diff *change, struct err *err)
{
    enum { NAMED = 2 };
    struct diff_sum *sums;
    const int count =
        diff_tree_sums(&sums, DIFF_BY_CATEGORY, &change->sides[0], &change->sides[1], err);
    int named = 0;

    for (int i = 0; i < count && named < NAMED; i++) {
        if (sums[i].bytes[1] <= sums[i].bytes[0])
            continue;
        const char *grown = BYTES_TEXT(sums[i].bytes[1] - sums[i].bytes[0]);
        if (named++)
            page_join(opening, VERDICT_why, "%s by %s", sums[i].name, grown);
        else
            page_say(opening, VERDICT_why, "By category, %s grew by %s.", sums[i].name, grown);
    }
    if (count >= 0)
        free(sums);
    return count < 0 ? -1 : 0;
}

static void say_growth(struct opening *opening, const struct diff_tree *difference,
                       const struct diff_row *row)
{
    const struct row_growth growth = find_growth(difference, row);
    if (growth.leaf && say_leaf(opening, difference, &growth))
        return;
    if (!growth.leaf && growth.how == DIFF_HOW_LONGER)
        page_say(opening, VERDICT_why, "The lines below it make %s hold them longer.", same);
    else
        say_blocks(opening, row);
    join_largest(opening, difference, row);
}

int page_diff_how(struct opening *opening, const struct run_diff *change, struct err *err)
{
    const struct diff_tree *difference = &change->difference;
    const struct diff_row *grown = run_diff_guilty(change), *shrunk = run_diff_shrunk(change);
    if (difference->bytes[1] < difference->bytes[0] && shrunk) {
        say_blocks(opening, shrunk);
        join_largest(opening, difference, shrunk);
    } else if (grown && grown->explained_bytes) {
        return say_categories(opening, change, err);
    } else if (grown) {
        say_growth(opening, difference, grown);
    }
    return 0;
}

/* --- what undoes it --- */

/* True if a frame of the trace runs a function of torch.utils.checkpoint. */
static bool has_checkpoint(const struct trace *trace)
{
    for (size_t i = 0; i < trace->location_limit; i++)
        if (torch_is(trace->locations[i].means, TORCH_checkpoint))
            return true;
    return false;
}

void page_diff_undo(struct opening *opening, const struct run_diff *change,
                    const struct study *before, const struct study *after)
{
    const struct diff_row *row = run_diff_guilty(change);
    const struct diff_tree *difference = &change->difference;
    const uint64_t *bytes = difference->bytes;
    char line[DIFF_AFTER_BYTES];
    if (!row || !bytes[0] || bytes[1] <= bytes[0] || change->moved_side >= 0 ||
        !is_nearly_all((uint64_t)row->delta_bytes + row->explained_bytes, bytes[1] - bytes[0]))
        return;
    const struct row_growth growth = find_growth(difference, row);
    const char *peak = BYTES_TEXT(bytes[0]);
    if (row->explained_bytes && row->leaf->category == CATEGORY_input)
        page_say(opening, VERDICT_do,
                 "Make the data of %s as small as before: the earlier run peaked at %s.",
                 row->label, peak);
    else if (row->explained_bytes)
        return;
    else if (row->leaf->category == CATEGORY_activations && has_checkpoint(&before->trace) &&
             !has_checkpoint(&after->trace))
        page_say(opening, VERDICT_do,
                 "Checkpoint the calls of %s again: the earlier run did, and peaked at %s.",
                 row->label, peak);
    else if (growth.leaf && growth.how == DIFF_HOW_LONGER && growth.leaf->lives[0].after_depth)
        page_say(opening, VERDICT_do,
                 "Free its blocks after %s again: the earlier run did, and peaked at %s.",
                 diff_leaf_freed_after(difference, growth.leaf, 0, line), peak);
}
