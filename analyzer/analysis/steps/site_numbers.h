/* SPDX-License-Identifier: MIT */
/*
 * Numbers the sites of an account (load/site_id.h) in the order of their first use. Most sites have
 * no forward operator: an array by stack id has their numbers, because each event asks for one. A
 * map has the numbers of the others.
 */
#pragma once

#include "analyzer/load/site_id.h"
#include "analyzer/util/pair_map.h"

/* Zeroed: no site has a number. */
struct site_numbers {
    uint32_t *plain; /* by stack id: the number + 1; 0: none */
    size_t count, capacity;
    struct pair_map others; /* by site id */
};

/* The number of the site, from 0; PAIR_MAP_NONE: it has none. */
static inline uint32_t site_numbers_get(const struct site_numbers *numbers, uint64_t site_id)
{
    if (site_forward_stack(site_id))
        return pair_map_get(&numbers->others, 0, site_id);
    return site_id < numbers->count ? numbers->plain[site_id] - 1 : PAIR_MAP_NONE;
}

int site_numbers_put(struct site_numbers *numbers, uint64_t site_id, uint32_t number,
                     struct err *err);
/* Takes back all numbers. */
void site_numbers_clear(struct site_numbers *numbers);
void site_numbers_release(struct site_numbers *numbers);
