/* SPDX-License-Identifier: MIT */
/* Finds the moment most like another run's peak; see alike.h. */
#include "alike.h"

/* Compares functions only, because lines move and files are renamed. */
static bool is_same_call_path(const struct held_site *a, const struct held_site *b)
{
    if (a->depth != b->depth || a->leaf != b->leaf)
        return false;
    for (size_t i = 0; i < a->depth; i++)
        if (a->call_path[i].key != b->call_path[i].key)
            return false;
    return true;
}

static const struct held_life *find_highest(const struct holding *holding,
                                            const struct held_site *wanted)
{
    const struct held_life *highest = NULL;
    for (size_t i = 0; i < holding->count; i++) {
        const struct held_life *life = &holding->items[i].life;

        if (life->high_bytes && (!highest || life->high_bytes > highest->high_bytes) &&
            is_same_call_path(&holding->items[i], wanted))
            highest = life;
    }
    return highest;
}

/* Returns the live site whose allocation left the account highest, among the sites whose
 * allocations left it below `below_bytes`. NULL: there is none. */
static const struct held_site *next_of_peak(const struct holding *peak, uint64_t below_bytes)
{
    const struct held_site *next = NULL;
    for (size_t i = 0; i < peak->count; i++) {
        const struct held_site *site = &peak->items[i];

        if (site->bytes && site->depth && site->life.high_bytes < below_bytes &&
            site->life.high_bytes > (next ? next->life.high_bytes : 0))
            next = site;
    }
    return next;
}

uint64_t alike_find(const struct holding *peak, const struct holding *other)
{
    uint64_t below_bytes = UINT64_MAX;
    const struct held_site *site;
    while ((site = next_of_peak(peak, below_bytes))) {
        const struct held_life *found = find_highest(other, site);

        if (found)
            return found->high_seq;
        below_bytes = site->life.high_bytes;
    }
    return 0;
}
