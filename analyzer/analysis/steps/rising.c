/* SPDX-License-Identifier: MIT */
/* Tells whether requests grow from one to the next; see rising.h. */
#include "rising.h"

#include "analyzer/thresholds/thresholds.h"

static bool is_doubling(uint64_t before_bytes, uint64_t rise_bytes)
{
    const uint64_t slack_bytes = before_bytes / DOUBLING_SLACK_DIVISOR;
    return rise_bytes + slack_bytes >= before_bytes && rise_bytes <= before_bytes + slack_bytes;
}

void rising_add(struct rising *rising, const struct rising_request *request)
{
    const uint64_t most_bytes = rising->last_bytes > rising->most_before_bytes
                                    ? rising->last_bytes
                                    : rising->most_before_bytes;
    if (!rising->first_bytes || request->size_bytes < rising->last_bytes) {
        const uint32_t earlier = rising->earlier_rises_count, count = rising->rises_count;
        const uint32_t falls = rising->falls_count + (rising->first_bytes != 0);
        *rising = (struct rising){.first_bytes = request->size_bytes,
                                  .last_bytes = request->size_bytes,
                                  .most_before_bytes = most_bytes,
                                  .first_batch_bytes = request->batch_bytes,
                                  .last_batch_bytes = request->batch_bytes,
                                  .earlier_rises_count = count > earlier ? count : earlier,
                                  .falls_count = falls};
        return;
    }
    const uint64_t rise_bytes = request->size_bytes - rising->last_bytes;
    rising->most_before_bytes = most_bytes;
    rising->is_of_buffer |= request->batch_bytes < rising->last_batch_bytes;
    rising->last_batch_bytes = request->batch_bytes;
    if (rise_bytes)
        rising->doublings_count =
            is_doubling(rising->last_bytes, rise_bytes) ? rising->doublings_count + 1 : 0;
    rising->last_bytes = request->size_bytes;
    if (!rise_bytes)
        return;
    rising->is_of_buffer |= request->is_beside;
    if (!rising->rises_count++ || rise_bytes < rising->least_rise_bytes)
        rising->least_rise_bytes = rise_bytes;
    if (rise_bytes > rising->most_rise_bytes)
        rising->most_rise_bytes = rise_bytes;
}

/* True if the requests grew as the batches did, such as those of data that is sorted by length. The
 * small inputs of some batches may be rounded to the same size. */
static bool follows_batches(const struct rising *rising)
{
    return !rising->is_of_buffer && rising->last_batch_bytes > rising->first_batch_bytes;
}

bool rising_goes_on(const struct rising *rising)
{
    const bool are_alike = rising->most_rise_bytes / ALIKE_RISES_TIMES <= rising->least_rise_bytes;
    return rising->rises_count >= (are_alike ? ALIKE_RISES_FEWEST : RISES_FEWEST) &&
           rising->rises_count > rising->earlier_rises_count && !follows_batches(rising);
}

bool rising_doubles(const struct rising *rising)
{
    return !rising->falls_count && rising->doublings_count >= DOUBLINGS_FEWEST &&
           !follows_batches(rising);
}

bool rising_never_falls(const struct rising *rising)
{
    return !rising->falls_count && rising_goes_on(rising);
}

bool rising_is_kept(const struct rising *rising, uint64_t births_count, uint64_t frees_count)
{
    return !frees_count && rising->rises_count + UINT64_C(1) == births_count &&
           rising_goes_on(rising);
}

bool rising_is_flat(const struct rising *rising)
{
    return !rising->rises_count && !rising->falls_count;
}

bool rising_is_even(const struct rising *rising)
{
    const uint64_t differ_bytes = rising->most_rise_bytes - rising->least_rise_bytes;
    return differ_bytes <= rising->most_rise_bytes / EVEN_RISES_DIVISOR;
}
