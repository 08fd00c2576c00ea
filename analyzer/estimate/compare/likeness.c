/* SPDX-License-Identifier: MIT */
/* Looks for the sizes of parameters among the sizes of blocks; see likeness.h. */
#include "likeness.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator/allocator.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

#define NEAR_PERCENT 10

struct sizes {
    uint64_t *items;
    size_t count, capacity;
};

/* Sizes are rounded before they are compared, because a framework's pool may report either the
 * requested bytes or the block's size. */
static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALLOCATOR_ROUND_BYTES - 1) / ALLOCATOR_ROUND_BYTES * ALLOCATOR_ROUND_BYTES;
}

static int sizes_add(struct sizes *sizes, uint64_t bytes, struct err *err)
{
    if (ARRAY_GROW(sizes->items, sizes->capacity, sizes->count, err))
        return -1;
    sizes->items[sizes->count++] = rounded(bytes);
    return 0;
}

ORDER_BY(by_bytes, uint64_t, ORDER(*a, *b));

static void sizes_sort(struct sizes *sizes)
{
    SORT(sizes->items, sizes->count, by_bytes);
}

/* Finds the sizes of all blocks at the peak (`sizes`), and of the blocks that count as parameters
 * (`held`). */
static int find_live(struct sizes *sizes, struct sizes *held, const struct study *study,
                     uint32_t account, struct err *err)
{
    const uint64_t peak = study->history.accounts[account].peak.index;
    struct live_walk walk = live_walk_begin(&study->history, account, peak);
    const struct block *block;
    while (peak != INDEX_NONE && (block = live_walk_next(&walk)))
        if (sizes_add(sizes, block->size_bytes, err) ||
            (categories_of(&study->categories, block) == CATEGORY_parameters &&
             sizes_add(held, block->size_bytes, err)))
            return -1;
    sizes_sort(sizes);
    return 0;
}

static int find_parameters(struct sizes *sizes, const struct plan *plan, struct err *err)
{
    for (size_t i = 0; i < plan->parameter_count; i++)
        if (sizes_add(sizes, plan->parameters[i].bytes, err))
            return -1;
    sizes_sort(sizes);
    return 0;
}

/* Matches each block with at most one parameter. */
static void match(struct likeness *likeness, const struct sizes *parameters,
                  const struct sizes *live)
{
    for (size_t i = 0, j = 0; i < parameters->count; i++) {
        const uint64_t bytes = parameters->items[i];
        likeness->tensors_count++;
        likeness->tensors_bytes += bytes;
        while (j < live->count && live->items[j] < bytes)
            j++;
        if (j == live->count || live->items[j] != bytes)
            continue;
        likeness->found_count++;
        likeness->found_bytes += bytes;
        j++;
    }
}

/*
 * Returns the bytes in blocks of a size that no parameter has. Copies of the model, such as
 * averaged weights, are not counted, because they have parameters' sizes.
 */
static uint64_t strange_bytes(const struct sizes *parameters, const struct sizes *held)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < held->count; i++)
        if (!parameters->count || !bsearch(&held->items[i], parameters->items, parameters->count,
                                           sizeof *parameters->items, by_bytes))
            bytes += held->items[i];
    return bytes;
}

static bool is_near(uint64_t a, uint64_t b)
{
    const uint64_t least = a < b ? a : b, most = a < b ? b : a;
    return most - least <= most / 100 * NEAR_PERCENT;
}

int likeness_find(struct likeness *likeness, const struct study *study, uint32_t account,
                  const struct comparison *comparison, const struct estimate *estimate,
                  struct err *err)
{
    struct sizes live = {0}, held = {0}, parameters = {0};
    int status = -1;
    *likeness = (struct likeness){.measured_bytes =
                                      comparison->categories[CATEGORY_parameters].measured_bytes};
    if (find_live(&live, &held, study, account, err) ||
        find_parameters(&parameters, &estimate->plan, err))
        goto out;
    match(likeness, &parameters, &live);
    likeness->strange_bytes = strange_bytes(&parameters, &held);
    likeness->is_another =
        (likeness->found_bytes < likeness->tensors_bytes / 2 ||
         likeness->strange_bytes > likeness->measured_bytes / 100 * NEAR_PERCENT) &&
        !is_near(likeness->measured_bytes,
                 comparison->categories[CATEGORY_parameters].estimated_bytes);
    status = 0;
out:
    free(live.items);
    free(held.items);
    free(parameters.items);
    return status;
}
