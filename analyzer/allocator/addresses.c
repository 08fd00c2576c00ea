/* SPDX-License-Identifier: MIT */
/* Free address ranges; see addresses.h. */
#include "addresses.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

void addresses_release(struct addresses *addresses)
{
    free(addresses->items);
    *addresses = (struct addresses){0};
}

static void remove_hole(struct addresses *addresses, size_t number)
{
    addresses->count--;
    memmove(&addresses->items[number], &addresses->items[number + 1],
            (addresses->count - number) * sizeof *addresses->items);
}

uint64_t addresses_take(struct addresses *addresses, uint64_t bytes)
{
    struct address_hole *items = addresses->items;
    size_t best = addresses->count;
    for (size_t i = 0; i < addresses->count; i++)
        if (items[i].bytes >= bytes &&
            (best == addresses->count || items[i].bytes < items[best].bytes))
            best = i;
    const uint64_t address =
        best < addresses->count ? items[best].address : addresses->next_address;
    if (best == addresses->count) {
        addresses->next_address += bytes;
    } else {
        items[best].address += bytes;
        items[best].bytes -= bytes;
        if (!items[best].bytes)
            remove_hole(addresses, best);
    }
    return address;
}

/* Returns the index of the first hole at that address or above. */
static size_t find_hole(const struct addresses *addresses, uint64_t address)
{
    return SORTED_BELOW(struct address_hole, address, addresses->items, addresses->count, address);
}

static void insert_hole(struct addresses *addresses, size_t number, uint64_t address,
                        uint64_t bytes)
{
    struct err ignored = {0};
    if (ARRAY_GROW(addresses->items, addresses->capacity, addresses->count, &ignored))
        return;
    memmove(&addresses->items[number + 1], &addresses->items[number],
            (addresses->count - number) * sizeof *addresses->items);
    addresses->items[number] = (struct address_hole){address, bytes};
    addresses->count++;
}

void addresses_give(struct addresses *addresses, uint64_t address, uint64_t bytes)
{
    const size_t after = find_hole(addresses, address);
    struct address_hole *items = addresses->items;
    if (after < addresses->count && items[after].address == address + bytes) {
        bytes += items[after].bytes;
        remove_hole(addresses, after);
    }
    if (after && items[after - 1].address + items[after - 1].bytes == address) {
        address = items[after - 1].address;
        bytes += items[after - 1].bytes;
        remove_hole(addresses, after - 1);
    }
    if (address + bytes == addresses->next_address)
        addresses->next_address = address;
    else
        insert_hole(addresses, find_hole(addresses, address), address, bytes);
}
