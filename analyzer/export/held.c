/* SPDX-License-Identifier: MIT */
/* Collects the live memory of each device at a moment; see held.h. */
#include "held.h"

#include <stdlib.h>

#include "analyzer/analysis/moment.h"
#include "analyzer/util/array.h"

static int add_layer(struct held *held, const struct export *export, uint32_t account,
                     struct err *err)
{
    const struct study *study = &export->study;
    struct held_layer *layer = &held->items[held->count];
    if (moment_find("at", export->view.at, &study->history, account, &layer->moment, err))
        return -1;
    if (layer->moment.index == INDEX_NONE)
        return 0;
    layer->account = account;
    if (sites_at(&layer->sites, &study->categories, account, layer->moment.index, err))
        return -1;
    held->count++;
    return 0;
}

static int find_layers(struct held *held, const struct export *export, struct err *err)
{
    const struct history *history = &export->study.history;
    held->items = array_new(history->device_count, sizeof *held->items, err);
    if (!held->items)
        return -1;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint32_t account = study_account(&export->study, use, &export->view);

        if (export_takes(export, use->device) && account != HISTORY_NONE &&
            add_layer(held, export, account, err))
            return -1;
    }
    return 0;
}

int held_write(const struct export *export, held_writer *writer, struct err *err)
{
    struct export_frames frames = {0};
    struct held held = {0};
    int status = -1;
    if (find_layers(&held, export, err) || frames_init(&frames, export, err))
        goto out;
    status = writer(export, &frames, &held, err);
out:
    frames_release(&frames);
    for (size_t i = 0; i < held.count; i++)
        sites_release(&held.items[i].sites);
    free(held.items);
    return status;
}
