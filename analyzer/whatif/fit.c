/* SPDX-License-Identifier: MIT */
/* The smallest card that runs the recording; see fit.h. */
#include "fit.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

enum { TRIES = 8 };

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

/* A search for the lowest limit that works: `works` works, `fails` does not. */
struct search {
    struct whatif_ask ask; /* common to all tries, which add the limit */
    bool is_of_pool;
    /* Each limit needs its own run, because it changes more than how far the pool may grow: the
     * memory fraction, or when garbage is collected. */
    bool is_stepwise;
    uint64_t fails, works, retry_count;
};

static struct whatif_ask ask_limits(const struct search *search, uint64_t least_bytes,
                                    uint64_t most_bytes)
{
    struct whatif_ask ask = search->ask;

    ask.least_bytes = least_bytes;
    *(search->is_of_pool ? &ask.pool_bytes : &ask.total_bytes) = most_bytes;
    return ask;
}

/* Places all limits between fails and works, or as many as there is room for. False: none is left,
 * works is the answer. */
static bool place_tries(const struct search *search, struct whatif_ask asks[TRIES])
{
    const uint64_t step = ALLOCATOR_GRANULE_BYTES;
    const uint64_t granules = (search->works - search->fails) / step;
    const uint64_t count = granules && granules - 1 < TRIES ? granules - 1 : TRIES;

    for (size_t i = 0; i < TRIES; i++) {
        const uint64_t tried = search->fails + granules * (i + 1) / (count + 1) * step;

        asks[i] = search->is_stepwise
                      ? ask_limits(search, tried, tried)
                      : ask_limits(search, search->fails + step, search->works - step);
        asks[i].is_spare = granules < 2 || (search->is_stepwise ? i >= count : i > 0);
    }
    return granules >= 2;
}

static void narrow(struct search *search, const struct whatif_device *device,
                   const struct whatif_run *runs)
{
    const struct whatif_run *lowest = NULL;

    for (size_t i = 0; i < TRIES; i++)
        if (runs[i].failure.at.index == INDEX_NONE &&
            (!lowest || runs[i].ask.least_bytes < lowest->ask.least_bytes))
            lowest = &runs[i];
    const uint64_t failed_bytes =
        lowest ? lowest->fails_below_bytes : device->fails_bytes[search->is_of_pool];
    if (failed_bytes > search->fails)
        search->fails = failed_bytes;
    if (!lowest)
        return;
    search->works = lowest->ask.least_bytes;
    search->retry_count = lowest->allocator.retry_count;
}

/* Makes one pass over the events. *tried false: nothing was left to try. 0, or -1. */
static int try_limits(struct search *card, struct search *pool, const char *path, int device,
                      bool *tried, struct err *err)
{
    struct whatif_ask asks[2 * TRIES];
    struct whatif whatif;
    const bool tries_card = place_tries(card, asks), tries_pool = place_tries(pool, asks + TRIES);

    *tried = tries_card || tries_pool;
    if (!*tried)
        return 0;
    if (whatif_replay(&whatif, path, asks, sizeof asks / sizeof *asks, err))
        return -1;
    const struct whatif_device *found = whatif.devices[DEVICE_SLOT(device)];
    narrow(card, found, found->runs);
    narrow(pool, found, found->runs + TRIES);
    whatif_release(&whatif);
    return 0;
}

/* The last size that surely fails, in whole granules. */
static uint64_t granule_below(uint64_t bytes)
{
    const uint64_t rounded_bytes = round_up(bytes);

    return rounded_bytes - (rounded_bytes ? ALLOCATOR_GRANULE_BYTES : 0);
}

static int search_with_retries(struct fit_device *fit, const struct whatif_run *unlimited,
                               const char *path, struct err *err)
{
    const struct whatif_ask ask = {.serves_all = true, .device = fit->device};
    struct search card = {.ask = ask,
                          .is_stepwise = fit->fraction > 0,
                          .fails = granule_below(unlimited->peak_needed_bytes + fit->context_bytes),
                          .works = fit->without_retries.card_bytes};
    struct search pool = {.ask = ask,
                          .is_of_pool = true,
                          .is_stepwise = unlimited->allocator.settings.garbage_threshold > 0,
                          .fails = granule_below(unlimited->allocator.peak_allocated_bytes),
                          .works = fit->without_retries.pool_bytes};
    bool tried = true;

    card.ask.context_bytes = fit->context_bytes;
    pool.ask.total_bytes = ALLOCATOR_UNLIMITED;
    while (tried)
        if (try_limits(&card, &pool, path, fit->device, &tried, err))
            return -1;
    fit->with_retries = (struct fit_size){
        .card_bytes = card.works, .pool_bytes = pool.works, .retry_count = card.retry_count};
    return 0;
}

/* The smallest card on which nothing is refused, neither by the driver nor by PyTorch's memory
 * fraction. */
static uint64_t card_without_retries(const struct fit_device *fit,
                                     const struct whatif_run *unlimited)
{
    const uint64_t pool_bytes = unlimited->allocator.peak_reserved_bytes;
    uint64_t bytes = round_up(unlimited->peak_held_bytes + fit->context_bytes);

    if (fit->fraction > 0 && (double)pool_bytes / fit->fraction > (double)bytes)
        bytes = round_up((uint64_t)((double)pool_bytes / fit->fraction));
    /* PyTorch cuts the fraction's share to whole bytes, so the rounded size may be too small. */
    if (fit->fraction > 0 && (uint64_t)(fit->fraction * (double)bytes) < pool_bytes)
        bytes += ALLOCATOR_GRANULE_BYTES;
    return bytes;
}

static int fit_device(struct fit_device *fit, const struct whatif_device *device, const char *path,
                      struct err *err)
{
    const struct whatif_run *unlimited = &device->runs[0];

    *fit = (struct fit_device){.device = device->device,
                               .has_pool = device->has_pool,
                               .difference = device->recorded.difference,
                               .total_bytes = device->card_known ? device->total_bytes : 0,
                               .context_bytes = device->peak_context_bytes,
                               .fraction = whatif_fraction(device, unlimited)};
    fit->is_least = device->refused_bytes || unlimited->served_failures_count;
    if (!device->has_pool) {
        const uint64_t bytes = device->refused_bytes > device->peak_driver_bytes
                                   ? device->refused_bytes
                                   : device->peak_driver_bytes;
        fit->without_retries.card_bytes = round_up(bytes + fit->context_bytes);
        return 0;
    }
    if (fit->difference.kind != DIFFERENCE_NONE)
        return 0;
    fit->without_retries =
        (struct fit_size){.card_bytes = card_without_retries(fit, unlimited),
                          .pool_bytes = unlimited->allocator.peak_reserved_bytes};
    return search_with_retries(fit, unlimited, path, err);
}

int fit_find(struct fit *fit, const char *path, struct err *err)
{
    const struct whatif_ask unlimited = {.total_bytes = ALLOCATOR_UNLIMITED, .serves_all = true};
    struct whatif whatif;
    int status = 0;

    *fit = (struct fit){0};
    if (whatif_replay(&whatif, path, &unlimited, 1, err))
        return -1;
    fit->items = array_new(DEVICE_SLOTS, sizeof *fit->items, err);
    status = fit->items ? 0 : -1;
    for (int i = 0; i < DEVICE_SLOTS && !status; i++) {
        const struct whatif_device *device = whatif.devices[i];

        if (device && (device->has_pool || device->peak_driver_bytes))
            status = fit_device(&fit->items[fit->count++], device, path, err);
    }
    whatif_release(&whatif);
    if (status)
        fit_release(fit);
    return status;
}

void fit_release(struct fit *fit)
{
    free(fit->items);
    *fit = (struct fit){0};
}
