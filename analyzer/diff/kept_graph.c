/* SPDX-License-Identifier: MIT */
/* Tells a kept graph from a kept output; see kept_graph.h. */
#include "kept_graph.h"

#include "analyzer/thresholds/thresholds.h"

/* Stacks of forward that some backward went through, with the kinds of sites of each stack. */
struct stacks {
    struct pair_map kinds; /* bits of 1 << kind, by stack */
    size_t count, seen_count, left_count;
};

/*
 * Finds the stacks of graphs that a backward went through. This leaves out the graphs of
 * evaluations.
 */
static int find_gone_through(struct stacks *stacks, const struct births *births, uint32_t account,
                             struct err *err)
{
    for (size_t i = 0; i < births->count; i++) {
        const struct birth_sum *sum = &births->items[i];

        if (sum->account == account && site_forward_stack(sum->site_id) &&
            pair_map_put(&stacks->kinds, 0, site_forward_stack(sum->site_id), 0, err))
            return -1;
    }
    stacks->count = stacks->kinds.count;
    return 0;
}

static int note_site(struct stacks *stacks, const struct site *site, struct err *err)
{
    const uint32_t kinds = pair_map_get(&stacks->kinds, 0, site_stack(site->site_id));
    const bool is_left = site->kind == SITE_GRAPH_LEFT;
    if (kinds == PAIR_MAP_NONE || (!is_left && site->kind != SITE_GRAPH))
        return 0;
    stacks->seen_count += !kinds;
    stacks->left_count += is_left && !(kinds & 1U << SITE_GRAPH_LEFT);
    return pair_map_put(&stacks->kinds, 0, site_stack(site->site_id), kinds | 1U << site->kind,
                        err);
}

/*
 * A graph counts as kept if calls to backward left at least GRAPH_STACKS_FEWEST of its stacks,
 * at least 3/4 of the stacks that are live, and 1/LEFT_OF_GRAPH_DIVISOR of all stacks.
 */
static bool is_graph_kept(const struct stacks *stacks)
{
    return stacks->left_count >= GRAPH_STACKS_FEWEST &&
           4 * stacks->left_count >= 3 * stacks->seen_count &&
           LEFT_OF_GRAPH_DIVISOR * stacks->left_count >= stacks->count;
}

int kept_graph_tell(struct sites *sites, const struct births *births, uint32_t account,
                    struct err *err)
{
    struct stacks stacks = {0};
    int status = find_gone_through(&stacks, births, account, err);
    for (size_t i = 0; i < sites->count && !status; i++)
        status = note_site(&stacks, &sites->items[i], err);
    const bool is_kept = is_graph_kept(&stacks);
    for (size_t i = 0; i < sites->count; i++)
        if (sites->items[i].kind == SITE_GRAPH_LEFT && !is_kept)
            sites->items[i].kind = SITE_GRAPH;
    pair_map_release(&stacks.kinds);
    return status;
}
