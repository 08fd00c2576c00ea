/* SPDX-License-Identifier: MIT */
/* Compares the ranks of a job; see job.h. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/balance.h"
#include "analyzer/util/array.h"
#include "strays.h"

/* --- ranks that stand for other ranks --- */

/* Finds the ranks that did the same. Takes O(n²) steps for n traces. A hash would be faster only
 * from some thousands of traces on. */
static int find_alike(struct job *job, bool takes_all, struct err *err)
{
    job->like = array_new((size_t)job->count, sizeof *job->like, err);
    if (!job->like)
        return -1;
    for (int i = 0; i < job->count; i++) {
        job->like[i] = i;
        for (int j = 0; j < i && !takes_all && job->like[i] == i; j++)
            if (job->like[j] == j && surveys_are_alike(&job->surveys[i], &job->surveys[j]))
                job->like[i] = j;
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
    if (ARRAY_GROW(job->places, job->place_capacity, job->place_count, err))
        return -1;
    job->places[job->place_count++] = *place;
    return 0;
}

/* Names the layer of a place. `pool` is the framework's pool that is the leading layer. NULL: the
 * leading layer is the driver's memory. */
static void name_place(struct job_place *place, const struct survey *survey, const char *pool)
{
    const struct survey_card *card = card_of(survey, place->device);
    place->is_pool = pool != NULL;
    snprintf(place->layer, sizeof place->layer, "%.50s%s", pool ? pool : "driver",
             pool ? " pool" : "");
    snprintf(place->uuid, sizeof place->uuid, "%s", card ? card->uuid : "");
}

static int take_recorded(struct job *job, int trace, struct err *err)
{
    const struct recorded_peaks *peaks = &job->surveys[trace].peaks;
    int status = 0;
    for (size_t i = 0; i < peaks->count && !status; i++) {
        const struct recorded_peak *peak = &peaks->items[i];
        struct job_place place = {.trace = trace,
                                  .device = peak->device,
                                  .like = job->like[trace],
                                  .like_device = peak->device,
                                  .is_recorded = true,
                                  .peak_bytes = peak->peak_bytes,
                                  .driver_peak_bytes = peak->driver_peak_bytes};

        name_place(&place, &job->surveys[trace], peak->pool);
        status = add_place(job, &place, err);
    }
    return status;
}

/* Reads a trace if it is not open, and watches its cards. */
static const struct reading *borrow(struct job *job, int trace, struct err *err)
{
    struct card_watch watch = {&job->cards, &job->surveys[trace], trace};
    const struct observer observer = card_watch_observer(&watch);
    return readings_borrow(job->readings, trace, &observer, err);
}

/* Replays a trace and adds its places. Skips an unknown device without memory, because it stands
 * for a call that did not say which device the host memory was for. */
static int replay_places(struct job *job, int trace, struct err *err)
{
    const struct survey *survey = &job->surveys[trace];
    const struct reading *reading = borrow(job, trace, err);
    int status = 0;
    if (!reading)
        return -1;
    const struct history *history = &reading->study.history;
    for (size_t i = 0; i < history->device_count && !status; i++) {
        const struct device_use *use = &history->devices[i];
        const struct account *account = &history->accounts[use->leading];
        struct job_place place = {.trace = trace,
                                  .device = use->device,
                                  .like = trace,
                                  .like_device = use->device,
                                  .peak_bytes = account->peak_bytes,
                                  .driver_peak_bytes =
                                      history->accounts[use->accounts[ACCOUNT_device]].peak_bytes};

        name_place(&place, survey, study_pool(&reading->study, account));
        if (place.device != DEVICE_UNKNOWN || place.peak_bytes || place.driver_peak_bytes)
            status = add_place(job, &place, err);
    }
    readings_give_back(job->readings, trace);
    return status;
}

/* Gives the trace's devices, in order, the peaks of the devices of the trace that stands for it. */
static int copy_places(struct job *job, int trace, struct err *err)
{
    const struct survey *survey = &job->surveys[trace];
    const struct survey *other = &job->surveys[job->like[trace]];
    for (size_t i = 0; i < job->place_count; i++) {
        struct job_place place = job->places[i];

        if (place.trace != job->like[trace])
            continue;
        place.trace = trace;
        for (size_t n = 0; n < other->card_count; n++)
            if (other->cards[n].device == place.like_device) {
                place.device = survey->cards[n].device;
                snprintf(place.uuid, sizeof place.uuid, "%s", survey->cards[n].uuid);
            }
        if (add_place(job, &place, err))
            return -1;
    }
    return 0;
}

static void mark_used(struct job *job, int trace, int device, uint64_t driver_peak_bytes)
{
    struct survey *survey = &job->surveys[trace];
    for (size_t n = 0; n < survey->card_count; n++)
        survey->cards[n].is_used |= survey->cards[n].device == device && driver_peak_bytes;
}

static int list_cards(struct job *job, struct err *err)
{
    for (int i = 0; i < job->count; i++) {
        const struct recorded_peaks *peaks = &job->surveys[i].peaks;

        for (size_t n = 0; n < peaks->count; n++)
            mark_used(job, i, peaks->items[n].device, peaks->items[n].driver_peak_bytes);
    }
    return shared_cards_list(&job->cards, job->surveys, job->count, err);
}

static int find_places(struct job *job, struct err *err)
{
    for (int i = 0; i < job->count; i++) {
        const bool has_twin = job->like[i] != i;

        if (job->surveys[i].peaks.are_known ? take_recorded(job, i, err)
            : has_twin                      ? copy_places(job, i, err)
                                            : replay_places(job, i, err))
            return -1;
    }
    for (size_t i = 0; i < job->place_count; i++) {
        const struct job_place *place = &job->places[i];

        mark_used(job, place->trace, place->device, place->driver_peak_bytes);
    }
    return 0;
}

/* Sums the memory of processes on one card. Reads the processes' traces that were not read yet. */
static int sum_cards(struct job *job, struct err *err)
{
    shared_cards_keep_used(&job->cards, job->surveys);
    for (size_t i = 0; i < job->cards.count; i++)
        for (int n = 0; n < job->cards.items[i].count; n++) {
            const struct card_sharer *process = &job->cards.items[i].processes[n];

            if (process->is_read)
                continue;
            if (!borrow(job, process->trace, err))
                return -1;
            readings_give_back(job->readings, process->trace);
        }
    shared_cards_sum(&job->cards, job->surveys);
    return 0;
}

/* --- groups --- */

ORDER_BY(compare_peaks, struct job_place, RISING(peak_bytes), RISING(trace), RISING(device));

static bool belongs(const struct job_group *group, const struct job_place *place)
{
    return (double)place->peak_bytes <= (double)group->lowest_bytes * PEAKS_ALIKE_RATIO;
}

static int find_groups(struct job *job, struct err *err)
{
    double sum = 0;
    job->by_peak = array_new(job->place_count, sizeof *job->by_peak, err);
    job->groups = array_new(job->place_count, sizeof *job->groups, err);
    if (!job->by_peak || !job->groups)
        return -1;
    for (size_t i = 0; i < job->place_count; i++)
        if (job->places[i].peak_bytes && !job->places[i].is_astray)
            job->by_peak[job->used_count++] = job->places[i];
    SORT(job->by_peak, job->used_count, compare_peaks);
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

/* --- the memory that the highest groups hold more --- */

const struct job_place *job_highest(const struct job *job, const struct job_group *group)
{
    return &job->by_peak[group->first + group->count - 1];
}

const struct job_place *job_middle(const struct job *job, const struct job_group *group)
{
    return &job->by_peak[group->first + (group->count - 1) / 2];
}

static int compare_with(struct more *more, const struct study *less, const struct job_side sides[2],
                        bool of_driver, struct err *err)
{
    const struct reading *reading = borrow(sides[1].job, sides[1].trace, err);
    if (!reading)
        return -1;
    const int status =
        more_find(more, less, sides[0].device, &reading->study, sides[1].device, of_driver, err);
    readings_give_back(sides[1].job->readings, sides[1].trace);
    return status;
}

int job_compare(struct more *more, const struct job_side sides[2], bool of_driver, struct err *err)
{
    const struct reading *reading = borrow(sides[0].job, sides[0].trace, err);
    if (!reading)
        return -1;
    const int status = compare_with(more, &reading->study, sides, of_driver, err);
    readings_give_back(sides[0].job->readings, sides[0].trace);
    return status;
}

static struct job_side side_of(struct job *job, const struct job_place *place)
{
    return (struct job_side){job, place->like, place->like_device};
}

/* Compares only the few highest groups, because a trace that is not open must be read. */
static int compare_groups(struct job *job, struct err *err)
{
    enum { COMPARED = 3 };

    for (size_t i = job->typical + 1; i < job->group_count && job_has_typical(job); i++) {
        struct job_group *group = &job->groups[i];

        if (i + COMPARED < job->group_count)
            continue;
        const struct job_side sides[] = {side_of(job, job_middle(job, &job->groups[job->typical])),
                                         side_of(job, job_highest(job, group))};
        if (job_compare(&group->more, sides, false, err))
            return -1;
    }
    return 0;
}

/* --- the whole job --- */

int job_read(struct job *job, struct readings *readings, const struct job_ask *ask, struct err *err)
{
    int status = -1;
    *job = (struct job){.readings = readings, .count = readings->count};
    job->surveys = array_new((size_t)job->count, sizeof *job->surveys, err);
    if (!job->surveys ||
        surveys_take(job->surveys, readings->paths, job->count, READINGS_KEPT, err)) {
        free(job->surveys);
        return -1;
    }
    for (int i = 0; i < job->count; i++)
        readings_take_opened(readings, i, &job->surveys[i].file);
    for (int i = 0; i < job->count && ask->replays_all; i++)
        recorded_peaks_release(&job->surveys[i].peaks);
    if (find_alike(job, ask->takes_all, err) || list_cards(job, err) || find_places(job, err) ||
        sum_cards(job, err))
        goto out;
    strays_mark(job);
    if (find_groups(job, err) || (ask->compares && compare_groups(job, err)))
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
    free(job->like);
    free(job->places);
    free(job->by_peak);
    free(job->groups);
    shared_cards_release(&job->cards);
    *job = (struct job){0};
}

static bool peaks_are_same(const struct recorded_peaks *a, const struct recorded_peaks *b)
{
    if (!a->are_known || !b->are_known || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct recorded_peak *one = &a->items[i], *other = &b->items[i];

        if (one->device != other->device || one->peak_bytes != other->peak_bytes ||
            one->driver_peak_bytes != other->driver_peak_bytes || !one->pool != !other->pool ||
            (one->pool && strcmp(one->pool, other->pool) != 0))
            return false;
    }
    return true;
}

int job_twin(const struct job *job, int trace)
{
    const struct survey *survey = &job->surveys[trace];
    for (int i = 0; i < trace && survey_refused_none(survey); i++)
        if (surveys_are_alike(&job->surveys[i], survey) &&
            peaks_are_same(&job->surveys[i].peaks, &survey->peaks))
            return i;
    return -1;
}

bool job_used_memory(const struct job *job, int trace)
{
    for (size_t i = 0; i < job->used_count; i++)
        if (job->by_peak[i].trace == trace)
            return true;
    return false;
}

bool job_has_typical(const struct job *job)
{
    return job->group_count && (job->groups[job->typical].count > 1 || job->used_count <= 2);
}

const struct job_group *job_outlier(const struct job *job)
{
    return job->group_count > 1 && job_has_typical(job) && job->typical != job->group_count - 1
               ? &job->groups[job->group_count - 1]
               : NULL;
}
