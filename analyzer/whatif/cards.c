/* SPDX-License-Identifier: MIT */
/* Cards and slices by their memory; see cards.h. */
#include "cards.h"

#include <stddef.h>

#define MIB (UINT64_C(1) << 20)

struct card {
    const char *name;
    uint64_t bytes;
};

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

static const char *smallest(const struct card *list, size_t count, uint64_t bytes)
{
    const struct card *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (list[i].bytes / 100 * CARD_USABLE_PERCENT >= bytes &&
            (!best || list[i].bytes < best->bytes))
            best = &list[i];
    return best ? best->name : NULL;
}

const char *card_for(uint64_t bytes)
{
    return smallest(cards, sizeof cards / sizeof *cards, bytes);
}

const char *mig_slice_for(uint64_t bytes)
{
    return smallest(slices, sizeof slices / sizeof *slices, bytes);
}
