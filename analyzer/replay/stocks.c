/* SPDX-License-Identifier: MIT */
/*
 * Who is summed with whom while replaying: devices, their accounts, framework pools. It must not
 * know when blocks are born or die.
 */
#include "replay.h"

#include <string.h>

#include "analyzer/util/array.h"

static const uint8_t account_of[] = {
#define MEMORY(name, layer, account, text) [MEMORY_##name] = ACCOUNT_##account,
#include "gpumemtrace/schema/memory.def"
};

static uint32_t add_stock(struct replay *replay, int device, enum memory_account account,
                          uint64_t pool)
{
    struct history *history = replay->history;
    struct stock *grown;
    uint64_t *live;

    grown = array_grow(history->stocks, &history->stock_capacity, history->stock_count,
                       sizeof *grown, replay->err);
    if (!grown)
        return HISTORY_NONE;
    history->stocks = grown;
    live = array_grow(replay->live_bytes, &replay->live_capacity, history->stock_count,
                      sizeof *live, replay->err);
    if (!live)
        return HISTORY_NONE;
    replay->live_bytes = live;
    live[history->stock_count] = 0;
    grown[history->stock_count] = (struct stock){
        .device = device, .account = account, .pool = pool, .peak_index = HISTORY_NONE};
    return (uint32_t)history->stock_count++;
}

/* Devices stay in the order of their numbers. */
static struct device_use *add_device(struct replay *replay, int device)
{
    struct history *history = replay->history;
    struct device_use *grown;
    size_t at = history->device_count;

    grown = array_grow(history->devices, &history->device_capacity, at, sizeof *grown, replay->err);
    if (!grown)
        return NULL;
    history->devices = grown;
    while (at > 0 && grown[at - 1].device > device)
        at--;
    memmove(&grown[at + 1], &grown[at], (history->device_count - at) * sizeof *grown);
    history->device_count++;
    grown[at].device = device;
    return &grown[at];
}

int replay_device(struct replay *replay, int device)
{
    uint32_t *stocks = replay->stock_of[DEVICE_SLOT(device)];
    struct device_use *use;

    if (stocks[ACCOUNT_device] != HISTORY_NONE)
        return 0;
    for (int account = ACCOUNT_none; account <= ACCOUNT_context; account++) {
        stocks[account] = add_stock(replay, device, (enum memory_account)account, 0);
        if (stocks[account] == HISTORY_NONE)
            return -1;
    }
    use = add_device(replay, device);
    if (!use)
        return -1;
    memcpy(use->stocks, stocks, sizeof use->stocks);
    use->leading = stocks[ACCOUNT_device];
    return 0;
}

uint32_t replay_stock(struct replay *replay, int device, unsigned memory, uint64_t pool)
{
    uint32_t space = NAME_POOL_STOCK + (uint32_t)DEVICE_SLOT(device), stock;

    if (replay_device(replay, device))
        return HISTORY_NONE;
    if (account_of[memory] != ACCOUNT_pool)
        return replay->stock_of[DEVICE_SLOT(device)][account_of[memory]];
    stock = address_map_get(&replay->names, space, pool);
    if (stock != ADDRESS_MAP_NONE)
        return stock;
    stock = add_stock(replay, device, ACCOUNT_pool, pool);
    if (stock == HISTORY_NONE || address_map_put(&replay->names, space, pool, stock, replay->err))
        return HISTORY_NONE;
    return stock;
}

void replay_choose_leading(struct history *history)
{
    for (size_t d = 0; d < history->device_count; d++) {
        struct device_use *use = &history->devices[d];
        const struct stock *best = NULL;

        for (size_t s = 0; s < history->stock_count; s++) {
            const struct stock *stock = &history->stocks[s];

            if (stock->account == ACCOUNT_pool && stock->device == use->device &&
                (!best || stock->peak_bytes > best->peak_bytes))
                best = stock;
        }
        if (best)
            use->leading = (uint32_t)(best - history->stocks);
    }
}
