/* SPDX-License-Identifier: MIT */
/* Numbers of sites; see site_numbers.h. */
#include "site_numbers.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

int site_numbers_put(struct site_numbers *numbers, uint64_t site_id, uint32_t number,
                     struct err *err)
{
    if (site_forward_stack(site_id))
        return pair_map_put(&numbers->others, 0, site_id, number, err);
    if (ARRAY_REACH(numbers->plain, numbers->capacity, numbers->count, site_id, err))
        return -1;
    numbers->plain[site_id] = number + 1;
    return 0;
}

void site_numbers_clear(struct site_numbers *numbers)
{
    for (size_t i = 0; i < numbers->count; i++)
        numbers->plain[i] = 0;
    pair_map_release(&numbers->others);
}

void site_numbers_release(struct site_numbers *numbers)
{
    free(numbers->plain);
    pair_map_release(&numbers->others);
    *numbers = (struct site_numbers){0};
}
