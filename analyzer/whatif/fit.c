/* SPDX-License-Identifier: MIT */
/* The smallest card that runs what was recorded; see fit.h. */
#include "fit.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

enum { TRIES = 8 };

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

/* A search for the smallest size that works: `fails` does not, `works` does. */
struct search {
    uint64_t fails, works, retry_count;
    uint64_t tried[TRIES];
    size_t count;
};

static void place_tries(struct search *search)
{
    const uint64_t granules = (search->works - search->fails) / ALLOCATOR_GRANULE_BYTES;

    search->count = granules < 2 ? 0 : granules - 1 < TRIES ? (size_t)granules - 1 : TRIES;
    for (size_t i = 0; i < search->count; i++)
        search->tried[i] =
            search->fails + granules * (i + 1) / (search->count + 1) * ALLOCATOR_GRANULE_BYTES;
}

/* The lowest that worked, as did all above it. */
static void narrow(struct search *search, const struct whatif_run *runs)
{
    for (size_t i = search->count; i-- > 0;) {
        if (runs[i].failure.at.index != INDEX_NONE) {
            search->fails = search->tried[i];
            return;
        }
        search->works = search->tried[i];
        search->retry_count = runs[i].allocator.retry_count;
    }
}

static int try_sizes(struct search *card, struct search *pool, const char *path,
                     const struct fit_device *fit, struct err *err)
{
    struct whatif_ask asks[2 * TRIES] = {{0}};
    struct whatif whatif;

    for (size_t i = 0; i < card->count; i++)
        asks[i] = (struct whatif_ask){
            .total_bytes = card->tried[i], .context_bytes = fit->context_bytes, .serves_all = true};
    for (size_t i = 0; i < pool->count; i++)
        asks[card->count + i] = (struct whatif_ask){
            .total_bytes = ALLOCATOR_UNLIMITED, .pool_bytes = pool->tried[i], .serves_all = true};
    if (whatif_replay(&whatif, path, asks, card->count + pool->count, err))
        return -1;
    const struct whatif_run *runs = whatif.devices[DEVICE_SLOT(fit->device)]->runs;
    narrow(card, runs);
    narrow(pool, runs + card->count);
    whatif_release(&whatif);
    return 0;
}

static int search_with_retries(struct fit_device *fit, const struct whatif_run *unlimited,
                               const char *path, struct err *err)
{
    const uint64_t live_bytes = unlimited->allocator.peak_allocated_bytes;
    struct search card = {.works = fit->without_retries.card_bytes};
    struct search pool = {.works = fit->without_retries.pool_bytes};

    /* Less than what is live, in whole granules, surely fails. */
    card.fails = round_up(unlimited->peak_needed_bytes + fit->context_bytes);
    card.fails -= card.fails >= ALLOCATOR_GRANULE_BYTES ? ALLOCATOR_GRANULE_BYTES : 0;
    pool.fails = round_up(live_bytes);
    pool.fails -= pool.fails >= ALLOCATOR_GRANULE_BYTES ? ALLOCATOR_GRANULE_BYTES : 0;
    for (;;) {
        place_tries(&card);
        place_tries(&pool);
        if (!card.count && !pool.count)
            break;
        if (try_sizes(&card, &pool, path, fit, err))
            return -1;
    }
    fit->with_retries = (struct fit_size){
        .card_bytes = card.works, .pool_bytes = pool.works, .retry_count = card.retry_count};
    return 0;
}

static int fit_device(struct fit_device *fit, const struct whatif_device *device, const char *path,
                      struct err *err)
{
    const struct whatif_run *unlimited = &device->runs[0];

    *fit = (struct fit_device){.device = device->device,
                               .has_pool = device->has_pool,
                               .difference = device->recorded.difference,
                               .total_bytes = device->card_known ? device->total_bytes : 0,
                               .context_bytes = device->peak_context_bytes};
    if (!device->has_pool) {
        fit->without_retries.card_bytes = round_up(device->peak_driver_bytes + fit->context_bytes);
        return 0;
    }
    if (fit->difference.kind != DIFFERENCE_NONE)
        return 0;
    fit->is_least = unlimited->served_failures_count > 0;
    fit->without_retries =
        (struct fit_size){.card_bytes = round_up(unlimited->peak_held_bytes + fit->context_bytes),
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
