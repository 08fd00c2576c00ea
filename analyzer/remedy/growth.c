/* SPDX-License-Identifier: MIT */
/* Tells whether requests grow from one to the next; see growth.h. */
#include "growth.h"

/* The layers of one forward may grow too: an encoder doubles its channels four or five times. So a
 * few rises count only if they are alike, and rises that differ count only if they are many. */
enum { FEWEST_ALIKE_RISES = 4, FEWEST_RISES = 8 };
/* Rises are alike if none is more than twice as large as another: a short last batch is. */
enum { ALIKE_TIMES = 2 };
/* Rises are even if they differ by at most 1/20, so that one figure describes them. */
enum { EVEN_SHARE = 20 };

void growth_add(struct growth *growth, uint64_t size_bytes)
{
    if (!growth->first_bytes || size_bytes < growth->last_bytes) {
        const uint32_t earlier = growth->earlier_rises_count, count = growth->rises_count;
        *growth = (struct growth){.first_bytes = size_bytes,
                                  .last_bytes = size_bytes,
                                  .earlier_rises_count = count > earlier ? count : earlier};
        return;
    }
    const uint64_t rise_bytes = size_bytes - growth->last_bytes;
    growth->last_bytes = size_bytes;
    if (!rise_bytes)
        return;
    if (!growth->rises_count++ || rise_bytes < growth->least_rise_bytes)
        growth->least_rise_bytes = rise_bytes;
    if (rise_bytes > growth->most_rise_bytes)
        growth->most_rise_bytes = rise_bytes;
}

bool growth_goes_on(const struct growth *growth)
{
    const bool are_alike = growth->most_rise_bytes / ALIKE_TIMES <= growth->least_rise_bytes;

    return growth->rises_count >= (are_alike ? FEWEST_ALIKE_RISES : FEWEST_RISES) &&
           growth->rises_count > growth->earlier_rises_count;
}

bool growth_is_even(const struct growth *growth)
{
    const uint64_t differ_bytes = growth->most_rise_bytes - growth->least_rise_bytes;

    return differ_bytes <= growth->most_rise_bytes / EVEN_SHARE;
}
