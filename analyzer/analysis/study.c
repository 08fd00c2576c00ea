/* SPDX-License-Identifier: MIT */
/* A trace ready to be asked, and what a view shows of it; see study.h. */
#include "study.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"
#include "analyzer/load/load.h"
#include "analyzer/replay/replay.h"

int study_open(struct study *study, const char *path, struct err *err)
{
    *study = (struct study){0};
    if (load_trace(&study->trace, path, err) || replay_trace(&study->history, &study->trace, err))
        goto failed;
    study->symbols = symbols_new(&study->trace, err);
    if (study->symbols &&
        !categories_init(&study->categories, &study->history, study->symbols, err))
        return 0;
failed:
    study_release(study);
    return -1;
}

void study_release(struct study *study)
{
    symbols_free(study->symbols);
    categories_release(&study->categories);
    history_release(&study->history);
    trace_release(&study->trace);
    *study = (struct study){0};
}

size_t view_limit(const struct view *view, size_t count)
{
    return view->top > 0 && (size_t)view->top < count ? (size_t)view->top : count;
}

const char *study_layer(const struct stock *stock)
{
    switch (stock->account) {
    case ACCOUNT_pool:
        return "pool";
    case ACCOUNT_context:
        return "device";
    default:
        return "driver";
    }
}

const char *study_pool(const struct study *study, const struct stock *stock)
{
    if (stock->account != ACCOUNT_pool)
        return NULL;
    return stock->pool ? trace_string(&study->trace, stock->pool) : "pytorch";
}

uint32_t study_stock(const struct study *study, const struct device_use *use,
                     const struct view *view)
{
    uint32_t stock;

    return study_stocks(study, use, view, &stock, 1) ? stock : HISTORY_NONE;
}

size_t study_stocks(const struct study *study, const struct device_use *use,
                    const struct view *view, uint32_t *stocks, size_t limit)
{
    const struct history *history = &study->history;
    size_t count = 0;

    if (view->layer != LAYER_driver && history->stocks[use->leading].account == ACCOUNT_pool &&
        count < limit)
        stocks[count++] = use->leading;
    for (uint32_t i = 0; view->layer != LAYER_driver && i < history->stock_count; i++) {
        const struct stock *stock = &history->stocks[i];

        if (stock->account == ACCOUNT_pool && stock->device == use->device && i != use->leading &&
            count < limit)
            stocks[count++] = i;
    }
    if (view->layer != LAYER_pool && count < limit)
        stocks[count++] = use->stocks[ACCOUNT_device];
    return count;
}

const char *study_device_name(int device, char buffer[STUDY_DEVICE_BYTES])
{
    if (device == DEVICE_UNKNOWN)
        snprintf(buffer, STUDY_DEVICE_BYTES, "an unknown device");
    else
        snprintf(buffer, STUDY_DEVICE_BYTES, "device %d", device);
    return buffer;
}

uint64_t study_time_ns(const struct study *study, uint32_t index)
{
    return index < study->trace.event_count ? study->trace.events[index].time_ns : 0;
}

const char *study_path(const struct study *study, uint32_t path)
{
    return path == HISTORY_NONE ? NULL : study->history.paths[path].text;
}
