/* SPDX-License-Identifier: MIT */
/* Finds memory of one rank on the card of another rank; see strays.h. */
#include "strays.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

/* --- places that are astray --- */

static const struct job_place *place_of(const struct job *job, int trace, int device)
{
    for (size_t i = 0; i < job->place_count; i++)
        if (job->places[i].trace == trace && job->places[i].device == device)
            return &job->places[i];
    return NULL;
}

/* True if the trace has no higher peak on another card. */
static bool is_main(const struct job *job, const struct job_place *place)
{
    for (size_t i = 0; i < job->place_count; i++)
        if (job->places[i].trace == place->trace &&
            job->places[i].driver_peak_bytes > place->driver_peak_bytes)
            return false;
    return true;
}

/* Returns the trace that held most of those whose main card it is, or -1 if there is none. */
static int find_owner(const struct job *job, const struct shared_card *card)
{
    uint64_t most_bytes = 0;
    int owner = -1;
    for (int i = 0; i < card->count; i++) {
        const struct card_sharer *process = &card->processes[i];
        const struct job_place *place = place_of(job, process->trace, process->device);
        if (!place || !is_main(job, place) || process->then_bytes <= most_bytes)
            continue;
        most_bytes = process->then_bytes;
        owner = process->trace;
    }
    return owner;
}

void strays_mark(struct job *job)
{
    for (size_t i = 0; i < job->cards.count; i++) {
        const struct shared_card *card = &job->cards.items[i];
        if (find_owner(job, card) < 0)
            continue;
        for (int n = 0; n < card->count; n++) {
            const struct card_sharer *process = &card->processes[n];
            for (size_t p = 0; p < job->place_count; p++) {
                struct job_place *place = &job->places[p];
                if (place->trace == process->trace && place->device == process->device)
                    place->is_astray = process->then_bytes && !is_main(job, place);
            }
        }
    }
}

/* --- the line that made the largest --- */

static int find_loaded(bool *is_loaded, const struct study *study, uint64_t site_id,
                       struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, site_stack(site_id));
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        *is_loaded |= torch_is(frame.means, TORCH_loading);
    return status;
}

static int find_site(struct strays *strays, const struct study *study, int device, struct err *err)
{
    const struct device_use *use = history_device(&study->history, device);
    struct sites sites;
    struct blame blame;
    struct site_row *rows = NULL;
    int count = -1;
    if (!use)
        return 0;
    if (sites_at(&sites, &study->categories, use->leading,
                 study->history.accounts[use->leading].peak.index, err))
        return -1;
    if (!site_rows_blame(&blame, study->symbols, &sites, err)) {
        count = site_rows_of(&rows, &study->history, &sites, &blame, err);
        if (count > 0) {
            if (rows->blamed->is_known)
                snprintf(strays->site, sizeof strays->site, "%s", rows->blamed->label);
            count = find_loaded(&strays->is_loaded, study, rows->largest->site_id, err);
        }
        free(rows);
        blame_release(&blame);
    }
    sites_release(&sites);
    return count < 0 ? -1 : 0;
}

int strays_on_card(struct strays *strays, struct job *job, const struct shared_card *card,
                   struct err *err)
{
    *strays = (struct strays){.card = card, .owner = find_owner(job, card)};
    strays->items = array_new(job->place_count, sizeof *strays->items, err);
    if (!strays->items)
        return -1;
    for (int n = 0; n < card->count; n++)
        for (size_t i = 0; i < job->place_count; i++) {
            const struct job_place *place = &job->places[i];
            if (!place->is_astray || place->trace != card->processes[n].trace ||
                place->device != card->processes[n].device)
                continue;
            if (!strays->count || place->peak_bytes > job->places[strays->largest].peak_bytes)
                strays->largest = i;
            strays->items[strays->count++] = i;
            strays->bytes += place->peak_bytes;
        }
    if (!strays->count)
        return 0;
    const struct job_place *largest = &job->places[strays->largest];
    const struct reading *reading = readings_borrow(job->readings, largest->like, NULL, err);
    if (!reading)
        return -1;
    const int status = find_site(strays, &reading->study, largest->like_device, err);
    readings_give_back(job->readings, largest->like);
    return status ? -1 : 1;
}
