/* SPDX-License-Identifier: MIT */
/* The ranks of a job beside each other; see job.h. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/* --- who stands for whom --- */

/* A hash would save time from some thousands of traces on. */
static int find_alike(struct job *job, bool takes_all, struct err *err)
{
    job->replayed = array_new((size_t)job->count, sizeof *job->replayed, err);
    if (!job->replayed)
        return -1;
    for (int i = 0; i < job->count; i++) {
        job->replayed[i] = i;
        for (int j = 0; j < i && !takes_all && job->replayed[i] == i; j++)
            if (job->replayed[j] == j && surveys_are_alike(&job->surveys[i], &job->surveys[j]))
                job->replayed[i] = j;
    }
    return 0;
}

/* --- places --- */

static const struct survey_card *card_of(const struct survey *survey, int device)
{
    for (size_t i = 0; i < survey->card_count; i++)
        if (survey->cards[i].device == device)
            return &survey->cards[i];
    return NULL;
}

static int add_place(struct job *job, const struct job_place *place, struct err *err)
{
    struct job_place *grown =
        array_grow(job->places, &job->place_capacity, job->place_count, sizeof *grown, err);

    if (!grown)
        return -1;
    job->places = grown;
    grown[job->place_count++] = *place;
    return 0;
}

static int replay_places(struct job *job, int trace, struct err *err)
{
    const struct survey *survey = &job->surveys[trace];
    const struct study_ask ask = {0};
    struct study study;
    int status = 0;

    if (study_open(&study, survey->path, &ask, err))
        return -1;
    for (size_t i = 0; i < study.history.device_count && !status; i++) {
        const struct device_use *use = &study.history.devices[i];
        const struct stock *stock = &study.history.stocks[use->leading];
        const struct survey_card *card = card_of(survey, use->device);
        const char *pool = study_pool(&study, stock);
        struct job_place place = {.trace = trace,
                                  .device = use->device,
                                  .replayed = trace,
                                  .replayed_device = use->device,
                                  .is_pool = pool != NULL,
                                  .peak_bytes = stock->peak_bytes,
                                  .driver_peak_bytes =
                                      study.history.stocks[use->stocks[ACCOUNT_device]].peak_bytes};

        snprintf(place.layer, sizeof place.layer, "%.50s%s", pool ? pool : study_layer(stock),
                 pool ? " pool" : "");
        snprintf(place.uuid, sizeof place.uuid, "%s", card ? card->uuid : "");
        status = add_place(job, &place, err);
    }
    study_release(&study);
    return status;
}

/* Its devices in their order are those of the one that it is alike. */
static int copy_places(struct job *job, int trace, struct err *err)
{
    const struct survey *survey = &job->surveys[trace];
    const struct survey *other = &job->surveys[job->replayed[trace]];

    for (size_t i = 0; i < job->place_count; i++) {
        struct job_place place = job->places[i];

        if (place.trace != job->replayed[trace])
            continue;
        place.trace = trace;
        for (size_t n = 0; n < other->card_count; n++)
            if (other->cards[n].device == place.replayed_device) {
                place.device = survey->cards[n].device;
                snprintf(place.uuid, sizeof place.uuid, "%s", survey->cards[n].uuid);
            }
        if (add_place(job, &place, err))
            return -1;
    }
    return 0;
}

/* --- groups --- */

static int compare_peaks(const void *left, const void *right)
{
    const struct job_place *a = left, *b = right;

    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes < b->peak_bytes ? -1 : 1;
    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

static bool belongs(const struct job_group *group, const struct job_place *place)
{
    return (double)place->peak_bytes <= (double)group->lowest_bytes * JOB_ALIKE_RATIO;
}

static int find_groups(struct job *job, struct err *err)
{
    double sum = 0;

    job->by_peak = array_new(job->place_count, sizeof *job->by_peak, err);
    job->groups = array_new(job->place_count, sizeof *job->groups, err);
    if (!job->by_peak || !job->groups)
        return -1;
    for (size_t i = 0; i < job->place_count; i++)
        if (job->places[i].peak_bytes)
            job->by_peak[job->used_count++] = job->places[i];
    if (job->used_count)
        qsort(job->by_peak, job->used_count, sizeof *job->by_peak, compare_peaks);
    for (size_t i = 0; i < job->used_count; i++) {
        const struct job_place *place = &job->by_peak[i];
        struct job_group *group = job->group_count ? &job->groups[job->group_count - 1] : NULL;

        sum += (double)place->peak_bytes;
        if (!group || !belongs(group, place)) {
            group = &job->groups[job->group_count++];
            *group = (struct job_group){.first = i, .lowest_bytes = place->peak_bytes};
        }
        group->count++;
        group->peak_bytes = place->peak_bytes;
        if (group->count > job->groups[job->typical].count)
            job->typical = job->group_count - 1;
    }
    if (job->used_count)
        job->imbalance_ratio =
            (double)job->by_peak[job->used_count - 1].peak_bytes / (sum / (double)job->used_count);
    return 0;
}

/* --- all of it --- */

int job_read(struct job *job, const char *const *paths, int count, bool takes_all, struct err *err)
{
    int status = -1;

    *job = (struct job){.count = count};
    job->surveys = array_new((size_t)count, sizeof *job->surveys, err);
    if (!job->surveys || surveys_take(job->surveys, paths, count, err)) {
        free(job->surveys);
        return -1;
    }
    if (find_alike(job, takes_all, err))
        goto out;
    for (int i = 0; i < count; i++)
        if (job->replayed[i] == i ? replay_places(job, i, err) : copy_places(job, i, err))
            goto out;
    if (find_groups(job, err) || shared_cards_find(&job->cards, job->surveys, count, err))
        goto out;
    status = 0;
out:
    if (status)
        job_release(job);
    return status;
}

void job_release(struct job *job)
{
    if (job->surveys)
        surveys_release(job->surveys, job->count);
    free(job->surveys);
    free(job->replayed);
    free(job->places);
    free(job->by_peak);
    free(job->groups);
    shared_cards_release(&job->cards);
    *job = (struct job){0};
}

bool job_used_memory(const struct job *job, int trace)
{
    for (size_t i = 0; i < job->used_count; i++)
        if (job->by_peak[i].trace == trace)
            return true;
    return false;
}

const struct job_group *job_outlier(const struct job *job)
{
    return job->group_count > 1 && job->typical != job->group_count - 1
               ? &job->groups[job->group_count - 1]
               : NULL;
}
