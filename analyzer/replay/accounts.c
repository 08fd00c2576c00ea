/* SPDX-License-Identifier: MIT */
/* Accounts by kind and by pool; see accounts.h. */
#include "accounts.h"

#include <string.h>

#include "analyzer/util/array.h"
#include "gpumemtrace/limits.h"

void accounts_init(struct accounts *accounts)
{
    *accounts = (struct accounts){.asked = {.index = INDEX_NONE}, .asked_device = ANY_DEVICE};
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        for (int kind = 0; kind < ACCOUNT_COUNT; kind++)
            accounts->by_kind[slot][kind] = HISTORY_NONE;
}

void accounts_release(struct accounts *accounts)
{
    pair_map_release(&accounts->by_pool);
}

static uint32_t add_account(const struct accounts *accounts, const struct cursor *at, int device,
                            enum account_kind kind, uint64_t pool)
{
    struct history *history = at->history;
    if (ARRAY_GROW(history->accounts, history->account_capacity, history->account_count, at->err))
        return HISTORY_NONE;
    bool is_asked = accounts->asked_device == ANY_DEVICE || accounts->asked_device == device;
    history->accounts[history->account_count] = (struct account){
        .device = device,
        .kind = kind,
        .pool = pool,
        .driver = accounts->by_kind[DEVICE_SLOT(device)][ACCOUNT_device],
        .peak = {.index = INDEX_NONE},
        .peak_reported_index = INDEX_NONE,
        .fullest = {.index = INDEX_NONE},
        .fullest_reported_index = INDEX_NONE,
        .reserved_peak = {.index = INDEX_NONE},
        .asked_reported_index = INDEX_NONE,
        .peak_path = HISTORY_NONE,
        .asked = is_asked ? accounts->asked : (struct moment){.index = INDEX_NONE}};
    return (uint32_t)history->account_count++;
}

/* Keeps history->devices sorted by device number. */
static struct device_use *insert_device(const struct cursor *at, int device)
{
    struct history *history = at->history;
    size_t position = history->device_count;
    if (ARRAY_GROW(history->devices, history->device_capacity, position, at->err))
        return NULL;
    while (position > 0 && history->devices[position - 1].device > device)
        position--;
    memmove(&history->devices[position + 1], &history->devices[position],
            (history->device_count - position) * sizeof *history->devices);
    history->device_count++;
    history->devices[position] = (struct device_use){.device = device};
    return &history->devices[position];
}

int accounts_add_device(struct accounts *accounts, const struct cursor *at, int device)
{
    uint32_t *own = accounts->by_kind[DEVICE_SLOT(device)];
    if (own[ACCOUNT_device] != HISTORY_NONE)
        return 0;
    for (int kind = ACCOUNT_none; kind <= ACCOUNT_context; kind++) {
        own[kind] = add_account(accounts, at, device, (enum account_kind)kind, 0);
        if (own[kind] == HISTORY_NONE)
            return -1;
    }
    for (int kind = ACCOUNT_none; kind <= ACCOUNT_context; kind++)
        at->history->accounts[own[kind]].driver = own[ACCOUNT_device];
    struct device_use *use = insert_device(at, device);
    if (!use)
        return -1;
    memcpy(use->accounts, own, sizeof use->accounts);
    use->leading = own[ACCOUNT_device];
    return 0;
}

uint32_t accounts_find(struct accounts *accounts, const struct cursor *at, int device,
                       enum memory_kind memory, uint64_t pool)
{
    if (accounts_add_device(accounts, at, device))
        return HISTORY_NONE;
    enum account_kind kind = account_kind(memory);
    if (kind != ACCOUNT_pool)
        return accounts->by_kind[DEVICE_SLOT(device)][kind];
    uint32_t account = pair_map_get(&accounts->by_pool, (uint32_t)DEVICE_SLOT(device), pool);
    if (account != PAIR_MAP_NONE)
        return account;
    if (accounts->pool_count++ == LIMIT_pools) {
        err_set(at->err, ERR_INPUT, "%s: more than %d pools of frameworks",
                at->history->trace->path, LIMIT_pools);
        return HISTORY_NONE;
    }
    account = add_account(accounts, at, device, kind, pool);
    if (account == HISTORY_NONE ||
        pair_map_put(&accounts->by_pool, (uint32_t)DEVICE_SLOT(device), pool, account, at->err))
        return HISTORY_NONE;
    return account;
}

uint64_t accounts_device_bytes(const struct accounts *accounts, const struct history *history,
                               int device)
{
    const uint32_t *own = accounts->by_kind[DEVICE_SLOT(device)];
    return history->accounts[own[ACCOUNT_device]].live_bytes +
           history->accounts[own[ACCOUNT_context]].live_bytes;
}

static void choose_leading(const struct history *history, struct device_use *use)
{
    const struct account *best = NULL;
    for (size_t i = 0; i < history->account_count; i++) {
        const struct account *account = &history->accounts[i];
        if (account->kind == ACCOUNT_pool && account->device == use->device &&
            (!best || account->peak_bytes > best->peak_bytes))
            best = account;
    }
    if (best)
        use->leading = (uint32_t)(best - history->accounts);
}

void accounts_note_use(struct account *account)
{
    struct pool_use *use = &account->use;
    if (account->reserved_bytes < use->reserved_bytes || !use->run_births)
        *use = (struct pool_use){.run_births = 1};
    use->reserved_bytes = account->reserved_bytes;
    if (use->births_count == use->run_births * POOL_USE_RUNS) {
        for (size_t i = 0; i < POOL_USE_RUNS; i++) {
            const size_t first = i * 2 < POOL_USE_RUNS ? i * 2 : 0;
            const uint64_t *pair = &use->high_bytes[first];
            const uint64_t higher = pair[0] > pair[1] ? pair[0] : pair[1];
            use->high_bytes[i] = i * 2 < POOL_USE_RUNS ? higher : 0;
        }
        use->run_births *= 2;
    }
    uint64_t *high_bytes = &use->high_bytes[use->births_count++ / use->run_births];
    if (account->live_bytes > *high_bytes)
        *high_bytes = account->live_bytes;
}

void accounts_finish(struct history *history)
{
    for (size_t i = 0; i < history->device_count; i++)
        choose_leading(history, &history->devices[i]);
}
