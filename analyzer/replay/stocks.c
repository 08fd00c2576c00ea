/* SPDX-License-Identifier: MIT */
/* Stocks by account and by pool; see stocks.h. */
#include "stocks.h"

#include <string.h>

#include "analyzer/util/array.h"
#include "gpumemtrace/limits.h"

void stocks_init(struct stocks *stocks)
{
    *stocks = (struct stocks){.asked = {.index = INDEX_NONE}, .asked_device = ANY_DEVICE};
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        for (int kind = 0; kind < ACCOUNT_COUNT; kind++)
            stocks->by_kind[slot][kind] = HISTORY_NONE;
}

void stocks_release(struct stocks *stocks)
{
    address_map_release(&stocks->by_pool);
}

static uint32_t add_stock(const struct stocks *stocks, const struct cursor *at, int device,
                          enum account_kind kind, uint64_t pool)
{
    struct history *history = at->history;
    struct stock *grown = array_grow(history->stocks, &history->stock_capacity,
                                     history->stock_count, sizeof *grown, at->err);
    if (!grown)
        return HISTORY_NONE;
    history->stocks = grown;
    bool is_asked = stocks->asked_device == ANY_DEVICE || stocks->asked_device == device;
    grown[history->stock_count] =
        (struct stock){.device = device,
                       .kind = kind,
                       .pool = pool,
                       .driver = stocks->by_kind[DEVICE_SLOT(device)][ACCOUNT_device],
                       .peak = {.index = INDEX_NONE},
                       .peak_told_index = INDEX_NONE,
                       .fullest = {.index = INDEX_NONE},
                       .fullest_told_index = INDEX_NONE,
                       .asked_told_index = INDEX_NONE,
                       .peak_path = HISTORY_NONE,
                       .asked = is_asked ? stocks->asked : (struct moment){.index = INDEX_NONE}};
    return (uint32_t)history->stock_count++;
}

/* Keeps the devices in the order of their numbers. */
static struct device_use *insert_device(const struct cursor *at, int device)
{
    struct history *history = at->history;
    size_t position = history->device_count;
    struct device_use *grown =
        array_grow(history->devices, &history->device_capacity, position, sizeof *grown, at->err);
    if (!grown)
        return NULL;
    history->devices = grown;
    while (position > 0 && grown[position - 1].device > device)
        position--;
    memmove(&grown[position + 1], &grown[position],
            (history->device_count - position) * sizeof *grown);
    history->device_count++;
    grown[position] = (struct device_use){.device = device};
    return &grown[position];
}

int stocks_add_device(struct stocks *stocks, const struct cursor *at, int device)
{
    uint32_t *own = stocks->by_kind[DEVICE_SLOT(device)];
    if (own[ACCOUNT_device] != HISTORY_NONE)
        return 0;
    for (int kind = ACCOUNT_none; kind <= ACCOUNT_context; kind++) {
        own[kind] = add_stock(stocks, at, device, (enum account_kind)kind, 0);
        if (own[kind] == HISTORY_NONE)
            return -1;
    }
    for (int kind = ACCOUNT_none; kind <= ACCOUNT_context; kind++)
        at->history->stocks[own[kind]].driver = own[ACCOUNT_device];
    struct device_use *use = insert_device(at, device);
    if (!use)
        return -1;
    memcpy(use->stocks, own, sizeof use->stocks);
    use->leading = own[ACCOUNT_device];
    return 0;
}

uint32_t stocks_find(struct stocks *stocks, const struct cursor *at, int device,
                     enum memory_kind memory, uint64_t pool)
{
    if (stocks_add_device(stocks, at, device))
        return HISTORY_NONE;
    enum account_kind kind = account_kind(memory);
    if (kind != ACCOUNT_pool)
        return stocks->by_kind[DEVICE_SLOT(device)][kind];
    uint32_t stock = address_map_get(&stocks->by_pool, (uint32_t)DEVICE_SLOT(device), pool);
    if (stock != ADDRESS_MAP_NONE)
        return stock;
    if (stocks->pool_count++ == LIMIT_pools) {
        err_set(at->err, ERR_INPUT, "%s: more than %d pools of frameworks",
                at->history->trace->path, LIMIT_pools);
        return HISTORY_NONE;
    }
    stock = add_stock(stocks, at, device, kind, pool);
    if (stock == HISTORY_NONE ||
        address_map_put(&stocks->by_pool, (uint32_t)DEVICE_SLOT(device), pool, stock, at->err))
        return HISTORY_NONE;
    return stock;
}

uint64_t stocks_device_bytes(const struct stocks *stocks, const struct history *history, int device)
{
    const uint32_t *own = stocks->by_kind[DEVICE_SLOT(device)];
    return history->stocks[own[ACCOUNT_device]].live_bytes +
           history->stocks[own[ACCOUNT_context]].live_bytes;
}

static void choose_leading(const struct history *history, struct device_use *use)
{
    const struct stock *best = NULL;
    for (size_t i = 0; i < history->stock_count; i++) {
        const struct stock *stock = &history->stocks[i];
        if (stock->kind == ACCOUNT_pool && stock->device == use->device &&
            (!best || stock->peak_bytes > best->peak_bytes))
            best = stock;
    }
    if (best)
        use->leading = (uint32_t)(best - history->stocks);
}

void stocks_finish(struct history *history)
{
    for (size_t i = 0; i < history->device_count; i++)
        choose_leading(history, &history->devices[i]);
}
