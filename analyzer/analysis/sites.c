/* SPDX-License-Identifier: MIT */
/* Live memory at a moment, by site; see sites.h. */
#include "sites.h"

#include <stdlib.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/replay/phase/backwards.h"
#include "analyzer/util/array.h"

/* Returns one number for the fields that distinguish sites with the same id. */
static uint32_t space_of(const struct site *site)
{
    return SITE_KINDS * ((site->path + 1) * CATEGORY_COUNT + site->category) + site->kind;
}

static int add_block_to_site(struct sites *sites, size_t *capacity, struct pair_map *numbers,
                             const struct site *site, struct err *err)
{
    const uint32_t space = space_of(site);
    uint32_t number = pair_map_get(numbers, space, site->site_id);
    if (number == PAIR_MAP_NONE) {
        if (ARRAY_GROW(sites->items, *capacity, sites->count, err))
            return -1;
        number = (uint32_t)sites->count++;
        sites->items[number] = *site;
        sites->items[number].bytes = sites->items[number].count = 0;
        if (pair_map_put(numbers, space, site->site_id, number, err))
            return -1;
    }
    sites->items[number].bytes += site->bytes;
    sites->items[number].count++;
    sites->total_bytes += site->bytes;
    sites->total_count++;
    return 0;
}

/* Breaks ties by fields that are the same in every run. */
ORDER_BY(compare_sites, struct site, FALLING(bytes), site_id_compare(a->site_id, b->site_id),
         RISING(path), RISING(category));

static struct site site_of(const struct categories *categories, const struct block *block)
{
    return (struct site){.site_id = block->site_id,
                         .path = block->path,
                         .category = categories_of(categories, block),
                         .bytes = block->size_bytes};
}

/* True if that call of backward has ended by the moment: it had begun, and it is not the call that
 * runs at the moment. */
static bool is_over(const struct backwards *backwards, uint32_t call, const struct moment *at)
{
    return call && call != at->backward && backwards->count - call < BACKWARDS_KEPT &&
           backwards->calls[call % BACKWARDS_KEPT].begin_index <= at->index;
}

/* Finds out which call of backward left the block. Workspaces are left out, because they stay,
 * no matter which call needed them first. */
static void tell_kind(struct site *site, const struct categories *categories,
                      const struct block *block, const struct moment *at, unsigned by_call)
{
    const struct backwards *backwards = &categories->history->backwards;
    const bool is_of_graph = block->is_of_graph && !block->backward;
    const uint32_t call =
        is_of_graph ? backwards_after(backwards, block->life.begin_index) : block->backward;
    if (site->category == CATEGORY_workspace)
        return;
    if (!is_over(backwards, call, at)) {
        site->kind = is_of_graph ? SITE_GRAPH : SITE_OTHER;
        return;
    }
    site->kind = is_of_graph ? SITE_GRAPH_LEFT : SITE_LEFT;
    if (!(by_call & 1U << site->kind))
        return;
    const uint32_t stack_id = backwards->calls[call % BACKWARDS_KEPT].stack_id;
    site->site_id = is_of_graph ? stack_id : site_id_of(site_stack(site->site_id), stack_id);
}

/* Which blocks to take, and whether to set their kind. */
struct asked_sites {
    const struct block_filter *filter; /* NULL: all blocks */
    bool tells;                        /* site.kind is to be set */
    unsigned by_call;
};

static int find_sites(struct sites *sites, const struct categories *categories, uint32_t account,
                      const struct moment *at, const struct asked_sites *asked, struct err *err)
{
    struct live_walk walk = live_walk_begin(categories->history, account, at->index);
    const struct block_filter *filter = asked->filter;
    struct pair_map numbers = {0};
    const struct block *block;
    size_t capacity = 0;
    int status = -1;
    *sites = (struct sites){0};
    while ((block = live_walk_next(&walk))) {
        struct site site = site_of(categories, block);

        if (filter && !filter->takes(filter->self, block))
            continue;
        if (asked->tells)
            tell_kind(&site, categories, block, at, asked->by_call);
        if (add_block_to_site(sites, &capacity, &numbers, &site, err))
            goto out;
    }
    SORT(sites->items, sites->count, compare_sites);
    status = 0;
out:
    pair_map_release(&numbers);
    if (status)
        sites_release(sites);
    return status;
}

int sites_taken_at(struct sites *sites, const struct categories *categories, uint32_t account,
                   uint64_t index, const struct block_filter *filter, struct err *err)
{
    const struct asked_sites asked = {.filter = filter};
    return find_sites(sites, categories, account, &(struct moment){.index = index}, &asked, err);
}

int sites_at(struct sites *sites, const struct categories *categories, uint32_t account,
             uint64_t index, struct err *err)
{
    return sites_taken_at(sites, categories, account, index, NULL, err);
}

int sites_left_at(struct sites *sites, const struct categories *categories, uint32_t account,
                  const struct moment *at, unsigned by_call, struct err *err)
{
    const struct asked_sites asked = {.tells = true, .by_call = by_call};
    return find_sites(sites, categories, account, at, &asked, err);
}

void sites_release(struct sites *sites)
{
    free(sites->items);
    *sites = (struct sites){0};
}

ORDER_BY(compare_bytes, struct site, FALLING(bytes));

int sites_sum(const struct sites *sites, enum sites_by by, size_t path_count, struct site **sums,
              struct err *err)
{
    const size_t outside = path_count;
    const size_t most = by == SITES_BY_CATEGORY ? CATEGORY_COUNT : path_count + 1;
    struct site *found = array_new(most, sizeof *found, err);
    int count = 0;
    if (!found)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        const struct site *site = &sites->items[i];
        const size_t path = site->path == HISTORY_NONE ? outside : site->path;
        struct site *sum = &found[by == SITES_BY_CATEGORY ? (size_t)site->category : path];

        sum->path = site->path;
        sum->category = site->category;
        sum->bytes += site->bytes;
        sum->count += site->count;
    }
    for (size_t i = 0; i < most; i++)
        if (found[i].count)
            found[count++] = found[i];
    SORT(found, count, compare_bytes);
    *sums = found;
    return count;
}

void sites_by_category(const struct sites *sites, uint64_t bytes[CATEGORY_COUNT])
{
    for (int category = 0; category < CATEGORY_COUNT; category++)
        bytes[category] = 0;
    for (size_t i = 0; i < sites->count; i++)
        bytes[sites->items[i].category] += sites->items[i].bytes;
}
