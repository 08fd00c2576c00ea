/* SPDX-License-Identifier: MIT */
/* Which card runs the recording; see fit.h. */
#include "fit.h"

#include <stdlib.h>

#include "analyzer/util/array.h"
#include "cards.h"

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

/* Returns the size of the smallest card on which no request is refused, neither by the driver nor
 * by PyTorch's memory fraction. */
static uint64_t card_without_retries(const struct fit_device *fit,
                                     const struct whatif_run *unlimited)
{
    const uint64_t pool_bytes = unlimited->allocator.peak_reserved_bytes;
    uint64_t bytes = round_up(unlimited->peak_held_bytes + fit->context_bytes);
    if (fit->fraction > 0 && (double)pool_bytes / fit->fraction > (double)bytes)
        bytes = round_up((uint64_t)((double)pool_bytes / fit->fraction));
    /* PyTorch rounds the fraction's share of a card down, so the card's size may be too small. */
    if (fit->fraction > 0 && (uint64_t)(fit->fraction * (double)bytes) < pool_bytes)
        bytes += ALLOCATOR_GRANULE_BYTES;
    return bytes;
}

/* Replays the recording on the next smaller card, if one is known. */
static int try_smaller(struct fit_device *fit, const struct trace *trace, struct err *err)
{
    const struct card *card = card_below(fit->card_bytes);
    struct whatif whatif;
    if (!card)
        return 0;
    const struct whatif_ask ask = {.total_bytes = card_sure_bytes(card),
                                   .serves_all = true,
                                   .context_bytes = fit->context_bytes};
    if (whatif_replay(&whatif, trace, &ask, 1, err))
        return -1;
    const struct whatif_run *run = whatif.devices[DEVICE_SLOT(fit->device)]->runs;
    fit->smaller = card;
    fit->smaller_fits = run->failure.at.index == INDEX_NONE;
    fit->retry_count = run->allocator.retry_count;
    whatif_release(&whatif);
    return 0;
}

static int fit_device(struct fit_device *fit, const struct whatif_device *device,
                      const struct trace *trace, struct err *err)
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
        fit->card_bytes = round_up(bytes + fit->context_bytes);
        return 0;
    }
    if (fit->difference.kind != DIFFERENCE_NONE)
        return 0;
    fit->card_bytes = card_without_retries(fit, unlimited);
    fit->pool_bytes = unlimited->allocator.peak_reserved_bytes;
    return try_smaller(fit, trace, err);
}

const struct whatif_ask fit_whatif = {.total_bytes = ALLOCATOR_UNLIMITED, .serves_all = true};

int fit_find(struct fit *fit, const struct whatif *unlimited, const struct trace *trace,
             struct err *err)
{
    *fit = (struct fit){.items = array_new(DEVICE_SLOTS, sizeof *fit->items, err)};
    int status = fit->items ? 0 : -1;
    for (int i = 0; i < DEVICE_SLOTS && !status; i++) {
        const struct whatif_device *device = unlimited->devices[i];

        if (device && (device->has_pool || device->peak_driver_bytes))
            status = fit_device(&fit->items[fit->count++], device, trace, err);
    }
    if (status)
        fit_release(fit);
    return status;
}

void fit_release(struct fit *fit)
{
    free(fit->items);
    *fit = (struct fit){0};
}
