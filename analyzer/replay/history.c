/* SPDX-License-Identifier: MIT */
/* Reading and freeing a history; see history.h. */
#include "history.h"

#include <stdlib.h>

void history_release(struct history *history)
{
    for (size_t i = 0; i < history->path_count; i++)
        free(history->paths[i].text);
    free(history->blocks);
    free(history->changes);
    free(history->stocks);
    free(history->devices);
    free(history->paths);
    free(history->spans);
    free(history->segments);
    free(history->mempools);
    free(history->usages);
    free(history->failures);
    free(history->steps);
    free(history->memory_samples);
    free(history->live_lists);
    free(history->live_listed);
    *history = (struct history){0};
}

const struct device_use *history_device(const struct history *history, int device)
{
    for (size_t i = 0; i < history->device_count; i++)
        if (history->devices[i].device == device)
            return &history->devices[i];
    return NULL;
}

size_t history_changes_before(const struct history *history, uint64_t index)
{
    size_t low = 0, high = history->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->changes[middle].event < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct block *history_birth_at(const struct history *history, uint32_t index)
{
    for (size_t i = history_changes_before(history, index);
         i < history->change_count && history->changes[i].event == index; i++)
        if (history->changes[i].birth)
            return &history->blocks[history->changes[i].block];
    return NULL;
}
