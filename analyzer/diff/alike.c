/* SPDX-License-Identifier: MIT */
/* Finds the moment most like another run's peak; see alike.h. */
#include "alike.h"

#include "functions.h"

/* Returns the index of the first line from `at` on whose function both runs call, or the depth. */
static size_t skip(const struct functions *functions, const struct held_site *site, size_t at)
{
    while (at < site->depth && !functions_is_of_both(functions, site->call_path[at].key))
        at++;
    return at;
}

/* Compares functions only, because lines move and files are renamed. */
static bool is_same_call_path(const struct functions *functions, const struct held_site *a,
                              const struct held_site *b)
{
    size_t i = skip(functions, a, 0), j = skip(functions, b, 0);
    if (a->leaf != b->leaf)
        return false;
    while (i < a->depth && j < b->depth && a->call_path[i].key == b->call_path[j].key) {
        i = skip(functions, a, i + 1);
        j = skip(functions, b, j + 1);
    }
    return i == a->depth && j == b->depth;
}

static const struct held_life *find_highest(const struct functions *functions,
                                            const struct holding *holding,
                                            const struct held_site *wanted)
{
    const struct held_life *highest = NULL;
    for (size_t i = 0; i < holding->count; i++) {
        const struct held_life *life = &holding->items[i].life;

        if (life->high_bytes && (!highest || life->high_bytes > highest->high_bytes) &&
            is_same_call_path(functions, &holding->items[i], wanted))
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

int alike_find(uint64_t *seq, const struct holding *peak, const struct holding *other,
               struct err *err)
{
    uint64_t below_bytes = UINT64_MAX;
    const struct held_site *site;
    struct functions functions;
    if (functions_of(&functions, (const struct holding *const[]){peak, other}, err))
        return -1;
    *seq = 0;
    while (!*seq && (site = next_of_peak(peak, below_bytes))) {
        const struct held_life *found = find_highest(&functions, other, site);

        *seq = found ? found->high_seq : 0;
        below_bytes = site->life.high_bytes;
    }
    functions_release(&functions);
    return 0;
}
