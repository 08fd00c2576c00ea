/* SPDX-License-Identifier: MIT */
/* The known cards and slices, and searches by their memory; see cards.h. */
#include "cards.h"

#include <stddef.h>

#define MIB (UINT64_C(1) << 20)

static const struct card cards[] = {
#define SLICE(...)
#define PRESET(name, device_name, mib, ...) {name, (mib)*MIB},
#include "common/sim_presets.def"
};

static const struct card slices[] = {
#define PRESET(...)
#define SLICE(name, device_name, mib, ...) {name, (mib)*MIB},
#include "common/sim_presets.def"
};

uint64_t card_sure_bytes(const struct card *card)
{
    enum { USABLE_PERCENT = 98 };

    return card->bytes / 100 * USABLE_PERCENT;
}

static const struct card *smallest(const struct card *list, size_t count, uint64_t bytes)
{
    const struct card *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (card_sure_bytes(&list[i]) >= bytes && (!best || list[i].bytes < best->bytes))
            best = &list[i];
    return best;
}

const struct card *card_for(uint64_t bytes)
{
    return smallest(cards, sizeof cards / sizeof *cards, bytes);
}

const struct card *card_below(uint64_t bytes)
{
    const struct card *best = NULL;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (card_sure_bytes(&cards[i]) < bytes && (!best || cards[i].bytes > best->bytes))
            best = &cards[i];
    return best;
}

const struct card *mig_slice_for(uint64_t bytes)
{
    return smallest(slices, sizeof slices / sizeof *slices, bytes);
}
