/* SPDX-License-Identifier: MIT */
/* Gradients of the round before; see stale.h. */
#include "stale.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

void stale_release(struct stale *stale)
{
    free(stale->kinds);
    address_map_release(&stale->numbers);
}

static struct stale_kind *reach_kind(struct stale *stale, uint32_t place, uint64_t size_bytes,
                                     struct err *err)
{
    uint32_t number = address_map_get(&stale->numbers, place, size_bytes);
    if (number != ADDRESS_MAP_NONE)
        return &stale->kinds[number];
    struct stale_kind *grown =
        array_grow(stale->kinds, &stale->capacity, stale->count, sizeof *grown, err);
    if (!grown)
        return NULL;
    stale->kinds = grown;
    number = (uint32_t)stale->count;
    if (address_map_put(&stale->numbers, place, size_bytes, number, err))
        return NULL;
    grown[stale->count++] = (struct stale_kind){0};
    return &grown[number];
}

int stale_begin_block(struct stale *stale, uint32_t place, uint64_t size_bytes, bool *made,
                      struct err *err)
{
    struct stale_kind *kind = reach_kind(stale, place, size_bytes, err);
    if (!kind)
        return -1;
    *made = kind->made_count < kind->stale_count;
    kind->made_count += *made;
    kind->live_count++;
    stale->live_bytes += size_bytes;
    return 0;
}

void stale_end_block(struct stale *stale, uint32_t place, uint64_t size_bytes, bool is_old,
                     bool made)
{
    struct stale_kind *kind = &stale->kinds[address_map_get(&stale->numbers, place, size_bytes)];
    kind->live_count--;
    stale->live_bytes -= size_bytes;
    if (is_old) {
        kind->stale_count--;
        stale->stale_bytes -= size_bytes;
    } else if (made) {
        stale->made_bytes += size_bytes;
    }
}

void stale_begin_round(struct stale *stale)
{
    for (size_t i = 0; i < stale->count; i++) {
        stale->kinds[i].stale_count = stale->kinds[i].live_count;
        stale->kinds[i].made_count = 0;
    }
    stale->stale_bytes = stale->live_bytes;
    stale->made_bytes = 0;
}

int64_t stale_gone_bytes(const struct stale *stale)
{
    return (int64_t)stale->stale_bytes - (int64_t)stale->made_bytes;
}
