/* SPDX-License-Identifier: MIT */
/* Visitors of a history; see visit.h. */
#include "visit.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

static void show_visit(const struct visit *visit, const struct visitor *visitors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        visitors[i].on_event(visitors[i].self, visit);
}

static uint64_t apply_change(struct visit *visit, const struct change *change, uint64_t *live_bytes)
{
    const struct block *block = &visit->history->blocks[change->block];
    uint64_t delta_bytes = change->birth ? block->size_bytes : -block->size_bytes;
    visit->block = block;
    live_bytes[block->stock] += delta_bytes;
    return delta_bytes;
}

/* The first half of a change of size: the moment between its halves is not shown. */
static bool is_half(const struct history *history, const struct change *change)
{
    return !change->birth && history->blocks[change->block].end == BLOCK_RESIZED;
}

int history_visit(const struct history *history, const struct visitor *visitors, size_t count,
                  struct err *err)
{
    uint64_t *live_bytes = array_new(history->stock_count, sizeof *live_bytes, err);
    if (!live_bytes)
        return -1;
    size_t change = 0;
    for (uint32_t i = 0; i < history->event_count; i++) {
        struct visit visit = {.history = history,
                              .event = &history->trace->events[i],
                              .index = i,
                              .live_bytes = live_bytes};
        if (change == history->change_count || history->changes[change].event != i)
            show_visit(&visit, visitors, count);
        while (change < history->change_count && history->changes[change].event == i) {
            uint64_t delta_bytes = apply_change(&visit, &history->changes[change], live_bytes);
            if (is_half(history, &history->changes[change++]))
                delta_bytes += apply_change(&visit, &history->changes[change++], live_bytes);
            visit.delta_bytes = (int64_t)delta_bytes;
            show_visit(&visit, visitors, count);
        }
    }
    free(live_bytes);
    return 0;
}
