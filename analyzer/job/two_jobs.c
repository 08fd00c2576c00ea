/* SPDX-License-Identifier: MIT */
/* Matches the ranks of two jobs; see two_jobs.h. */
#include "two_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/balance.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

/* --- pairs --- */

static bool is_same_rank(const struct survey *a, const struct survey *b)
{
    if (a->rank.known || b->rank.known)
        return a->rank.known && b->rank.known && a->rank.value == b->rank.value;
    return !strcmp(path_name(a->path), path_name(b->path));
}

static const struct job_place *counterpart(const struct job *other, const struct job *job,
                                           const struct job_place *place)
{
    for (size_t i = 0; i < other->place_count; i++) {
        const struct job_place *found = &other->places[i];

        if (found->device == place->device &&
            is_same_rank(&other->surveys[found->trace], &job->surveys[place->trace]))
            return found;
    }
    return NULL;
}

static uint64_t bytes_of(const struct job_place *place, const struct two_jobs_ask *ask)
{
    return ask->of_driver ? place->driver_peak_bytes : place->peak_bytes;
}

/* Finds the places that the other job lacks. For side 1, also finds the pairs. */
static int match_side(struct two_jobs *two, int side, const struct two_jobs_ask *ask,
                      struct err *err)
{
    const struct job *job = two->jobs[side], *other = two->jobs[!side];
    two->alone[side] = array_new(job->place_count, sizeof *two->alone[side], err);
    if (!two->alone[side])
        return -1;
    for (size_t i = 0; i < job->place_count; i++) {
        const struct job_place *place = &job->places[i], *twin;

        if (ask->device >= 0 && place->device != ask->device)
            continue;
        twin = counterpart(other, job, place);
        if (!twin && bytes_of(place, ask))
            two->alone[side][two->alone_counts[side]++] = place;
        if (!twin || !side || (!bytes_of(place, ask) && !bytes_of(twin, ask)))
            continue;
        two->pairs[two->count++] =
            (struct place_pair){{twin, place}, {bytes_of(twin, ask), bytes_of(place, ask)}, 0};
    }
    return 0;
}

/* --- groups --- */

static uint64_t change_of(const struct place_pair *pair)
{
    const int64_t delta = place_pair_delta(pair);
    return (uint64_t)(delta < 0 ? -delta : delta);
}

static int compare_places(const struct place_pair *a, const struct place_pair *b)
{
    if (a->places[1]->trace != b->places[1]->trace)
        return a->places[1]->trace < b->places[1]->trace ? -1 : 1;
    return (a->places[1]->device > b->places[1]->device) -
           (a->places[1]->device < b->places[1]->device);
}

ORDER_BY(compare_changes, struct place_pair, FALLING_IN(change_of), compare_places(a, b));

ORDER_BY(compare_groups, struct place_pair, RISING(group), compare_changes(a, b));

static bool is_near(uint64_t a, uint64_t b)
{
    return (double)a <= (double)b * PEAKS_ALIKE_RATIO && (double)b <= (double)a * PEAKS_ALIKE_RATIO;
}

/* True if two pairs belong to one group. A pair that did not change is never alike a pair that
 * did. */
static bool is_alike(const struct place_pair *a, const struct place_pair *b)
{
    return is_near(a->bytes[0], b->bytes[0]) && is_near(a->bytes[1], b->bytes[1]) &&
           !change_of(a) == !change_of(b);
}

static void group_pairs(struct two_jobs *two)
{
    SORT(two->pairs, two->count, compare_changes);
    for (size_t i = 0; i < two->count; i++) {
        struct place_pair *pair = &two->pairs[i];

        pair->group = two->group_count;
        for (size_t j = 0; j < i; j++)
            if (is_alike(&two->pairs[j], pair)) {
                pair->group = two->pairs[j].group;
                break;
            }
        two->group_count += pair->group == two->group_count;
    }
    SORT(two->pairs, two->count, compare_groups);
}

/* --- the line to blame --- */

/* Compares the first groups that grew. The very first group is compared even if its peaks fell,
 * because people read it first and one of its lines may have grown. */
static int find_more(struct two_jobs *two, bool of_driver, struct err *err)
{
    for (size_t i = 0; i < two->count; i++) {
        const struct place_pair *pair = &two->pairs[i];

        if ((i && pair[-1].group == pair->group) || pair->group >= TWO_JOBS_COMPARED ||
            (i && place_pair_delta(pair) <= 0))
            continue;
        const struct job_side sides[] = {
            {two->jobs[0], pair->places[0]->trace, pair->places[0]->device},
            {two->jobs[1], pair->places[1]->trace, pair->places[1]->device}};
        if (job_compare(&two->more[pair->group], sides, of_driver, err))
            return -1;
    }
    return 0;
}

/* --- all of it --- */

int two_jobs_match(struct two_jobs *two, struct job *before, struct job *after,
                   const struct two_jobs_ask *ask, struct err *err)
{
    *two = (struct two_jobs){.jobs = {before, after}};
    two->pairs = array_new(after->place_count, sizeof *two->pairs, err);
    if (!two->pairs || match_side(two, 0, ask, err) || match_side(two, 1, ask, err))
        goto failed;
    group_pairs(two);
    if (!find_more(two, ask->of_driver, err))
        return 0;
failed:
    two_jobs_release(two);
    return -1;
}

void two_jobs_release(struct two_jobs *two)
{
    free(two->pairs);
    free(two->alone[0]);
    free(two->alone[1]);
    *two = (struct two_jobs){0};
}
