/* SPDX-License-Identifier: MIT */
/*
 * Collapsed stacks, as flamegraph.pl and inferno read them:
 *
 *     <module> (train.py:88);forward (model.py:12);malloc 1048576
 *
 * The number after the last space is the weight, in bytes.
 */
#include <inttypes.h>

#include "held.h"

enum { LINE_BYTES_MAX = 16 << 20 };

static int write_layer(const struct export *export, struct export_frames *frames,
                       const struct held_layer *layer, bool names_device, struct err *err)
{
    char device[EXPORT_LAYER_BYTES];
    struct text line;
    int status = 0;
    text_init(&line, LINE_BYTES_MAX);
    export_layer_text(export, layer->account, device);
    for (size_t i = 0; i < layer->sites.count && !status; i++) {
        const struct site *site = &layer->sites.items[i];

        status = frames_walk(frames, site_stack(site->site_id), err) ||
                         (names_device && frames_put_around(frames, device, err)) ||
                         frames_join(frames, &line, err)
                     ? -1
                     : 0;
        if (!status)
            fprintf(export->out, "%s %" PRIu64 "\n", line.data, site->bytes);
    }
    text_release(&line);
    return status;
}

static int write_layers(const struct export *export, struct export_frames *frames,
                        const struct held *held, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < held->count && !status; i++)
        status = write_layer(export, frames, &held->items[i], held->count > 1, err);
    return status;
}

int export_collapsed(const struct export *export, struct err *err)
{
    return held_write(export, write_layers, err);
}
