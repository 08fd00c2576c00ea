/* SPDX-License-Identifier: MIT */
/* Sums memory outside a framework's pool; see outside.h. */
#include "outside.h"

uint64_t outside_idle_bytes(const struct history *history, int device)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < history->mempool_count; i++) {
        const struct mempool *mempool = &history->mempools[i];

        if (mempool->device == device && mempool->reported && mempool->memory == MEMORY_ASYNC &&
            mempool->usage.reserved_bytes > mempool->live_bytes)
            bytes += mempool->usage.reserved_bytes - mempool->live_bytes;
    }
    return bytes;
}

uint64_t outside_refused_bytes(const struct history *history, int device)
{
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        const struct account *account = &history->accounts[failure->account];
        uint64_t bytes;

        if (account->device != device || account->kind != ACCOUNT_device ||
            failure->event.result != RESULT_OUT_OF_MEMORY ||
            GMT_ADD_OVERFLOWS(failure->held_bytes, failure->event.size_bytes, &bytes))
            continue;
        if (bytes > most_bytes)
            most_bytes = bytes;
    }
    return most_bytes;
}
