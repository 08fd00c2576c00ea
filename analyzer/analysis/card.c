/* SPDX-License-Identifier: MIT */
/* Free memory of a card; see card.h. */
#include "card.h"

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/replay/modules.h"

uint64_t card_modules_bytes(const struct history *history, const struct device_use *use,
                            uint64_t index)
{
    const uint32_t account = use->accounts[ACCOUNT_context];
    const struct block *block;
    uint64_t bytes = 0;
    if (!history->accounts[account].peak_bytes)
        return 0;
    struct live_walk walk = live_walk_begin(history, account, index);
    while ((block = live_walk_next(&walk)))
        bytes += block->size_bytes;
    return bytes;
}

struct card_limit card_limit_at(const struct history *history, const struct device_use *use,
                                uint64_t index)
{
    const uint32_t account = use->accounts[ACCOUNT_context];
    struct card_limit limit = {0};
    const struct block *block;
    if (!history->accounts[account].has_begun)
        return limit;
    struct live_walk walk = live_walk_begin(history, account, index);
    while ((block = live_walk_next(&walk)))
        if (block->memory == MEMORY_LIMIT && (!limit.is_set || block->size_bytes > limit.bytes))
            limit = (struct card_limit){true, modules_limit(block), block->size_bytes,
                                        site_stack(block->site_id)};
    return limit;
}

/* Finds the recorded bytes of the card that this process holds right after an event. */
static int find_held(uint64_t *bytes, const struct history *history, const struct device_use *use,
                     uint64_t index, struct err *err)
{
    struct frag driver;
    if (frag_at(&driver, history, use->accounts[ACCOUNT_device], index, err))
        return -1;
    *bytes = driver.reserved_bytes + card_modules_bytes(history, use, index);
    return 0;
}

int card_free_since(struct card_free *card, const struct history *history,
                    const struct device_use *use, const struct memory_sample *sample,
                    uint64_t index, uint64_t held_bytes, struct err *err)
{
    const uint64_t reported_index = sample->reported_index < index ? sample->reported_index : index;
    uint64_t then_bytes;
    if (find_held(&then_bytes, history, use, reported_index, err))
        return -1;
    const uint64_t room_bytes = sample->free_bytes + then_bytes;
    *card = (struct card_free){.known = true,
                               .is_corrected = then_bytes != held_bytes,
                               .free_bytes = room_bytes > held_bytes ? room_bytes - held_bytes : 0,
                               .total_bytes = sample->total_bytes};
    return 0;
}

int card_free_at(struct card_free *card, const struct history *history, int device, uint64_t index,
                 struct err *err)
{
    const struct memory_sample *sample = history_sample_at(history, device, index);
    const struct device_use *use = history_device(history, device);
    uint64_t held_bytes;
    *card = (struct card_free){0};
    if (!sample)
        return 0;
    if (find_held(&held_bytes, history, use, index, err))
        return -1;
    return card_free_since(card, history, use, sample, index, held_bytes, err);
}
