/* SPDX-License-Identifier: MIT */
/* Reads the traces of one command, each when it is first borrowed; see readings.h. */
#include "readings.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

int readings_init(struct readings *readings, const char *const *paths, int count,
                  const struct reading_ask *ask, struct err *err)
{
    *readings = (struct readings){.paths = paths, .count = count, .ask = *ask};
    readings->items = array_new((size_t)count, sizeof *readings->items, err);
    return readings->items ? 0 : -1;
}

static void drop(struct readings_item *item)
{
    if (item->reading)
        reading_release(item->reading);
    free(item->reading);
    item->reading = NULL;
    sqlite3_close(item->file.db);
    item->file.db = NULL;
}

void readings_release(struct readings *readings)
{
    for (int i = 0; readings->items && i < readings->count; i++)
        drop(&readings->items[i]);
    free(readings->items);
    *readings = (struct readings){0};
}

void readings_take_opened(struct readings *readings, int trace, struct opened_trace *file)
{
    readings->items[trace].file = *file;
    file->db = NULL;
}

static int open_item(struct readings_item *item, const char *path, const struct reading_ask *ask,
                     const struct observer *watcher, struct err *err)
{
    item->reading = array_new(1, sizeof *item->reading, err);
    if (!item->reading)
        return -1;
    const int status = reading_open(item->reading, path, &item->file, ask, watcher, err);
    item->file.db = NULL;
    if (status) {
        free(item->reading);
        item->reading = NULL;
    }
    return status;
}

const struct reading *readings_borrow(struct readings *readings, int trace,
                                      const struct observer *watcher, struct err *err)
{
    struct readings_item *item = &readings->items[trace];
    if (!item->reading) {
        if (open_item(item, readings->paths[trace], &readings->ask, watcher, err))
            return NULL;
        item->is_kept = readings->kept_count < READINGS_KEPT;
        readings->kept_count += item->is_kept;
    }
    item->borrowers++;
    return item->reading;
}

void readings_give_back(struct readings *readings, int trace)
{
    struct readings_item *item = &readings->items[trace];
    if (!--item->borrowers && !item->is_kept)
        drop(item);
}
