/* SPDX-License-Identifier: MIT */
/* Reading and freeing a history; see history.h. */
#include "history.h"

#include <stdlib.h>

#include "live_walk.h"
#include "past.h"

void history_release(struct history *history)
{
    for (size_t i = 0; i < history->path_count; i++)
        free(history->paths[i].text);
    free(history->backwards.calls);
    pair_map_release(&history->sizes);
    free(history->stacks);
    free(history->accounts);
    free(history->devices);
    free(history->paths);
    free(history->mempools);
    free(history->failures);
    free(history->waiting);
    free(history->retries);
    free(history->stops);
    free(history->blocks);
    free(history->segments);
    slots_release(&history->block_slots);
    slots_release(&history->segment_slots);
    live_sets_release(history);
    past_release(history);
    *history = (struct history){0};
}

bool history_is_imported(const struct history *history)
{
    return history->trace->meta.imported_format.value != NULL;
}

bool history_knows(const struct history *history, const struct account *account)
{
    return !history_is_imported(history) || account->allocations_count || account->failed_count;
}

const struct device_use *history_device(const struct history *history, int device)
{
    for (size_t i = 0; i < history->device_count; i++)
        if (history->devices[i].device == device)
            return &history->devices[i];
    return NULL;
}

bool block_stays(const struct history *history, const struct block *block)
{
    return site_stack(block->site_id) < history->stack_count &&
           block_rounds(history, block) >= BLOCK_STAYS_ROUNDS &&
           history->stacks[site_stack(block->site_id)].last_round <= block->birth_round;
}

static bool is_failure_at(const struct history *history, const struct failure *failure, int device,
                          uint64_t index)
{
    return failure->number && failure->at.index == index &&
           history->accounts[failure->account].device == device;
}

const struct failure *history_failure_at(const struct history *history, int device, uint64_t index)
{
    for (size_t i = 0; i < history->failure_count; i++)
        if (is_failure_at(history, &history->failures[i], device, index))
            return &history->failures[i];
    const struct failure *asked = &history->asked_failure;
    return is_failure_at(history, asked, device, index) ? asked : NULL;
}

const struct memory_sample *history_sample_at(const struct history *history, int device,
                                              uint64_t index)
{
    const struct memory_sample *last = &history->samples[DEVICE_SLOT(device)];
    if (last->known && life_covers(&last->life, index))
        return last;
    const struct memory_sample *ended = history->ended_samples.items;
    for (size_t i = history->ended_samples.count; i-- > 0;)
        if (ended[i].device == device && life_covers(&ended[i].life, index))
            return &ended[i];
    return NULL;
}
