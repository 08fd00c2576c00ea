/* SPDX-License-Identifier: MIT */
/* The ranks of a job beside each other; see groups.h. */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/page/parts.h"
#include "who.h"

/* --- the table --- */

static bool was_replayed(const struct job_place *place)
{
    return !place->is_recorded && place->like == place->trace;
}

static int replays_of(const struct job *job, const struct job_group *group)
{
    int count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += was_replayed(&job->by_peak[group->first + i]);
    return count;
}

static void add_more(struct doc *doc, const struct more *more)
{
    doc_known_bytes(doc_detail(doc), "more_bytes", "More", *more->site != 0, more->bytes);
    doc_text(doc, "more_at", "Holds more at", *more->site ? more->site : NULL);
    doc_words(doc, "%s", more->site);
    doc_text(doc_detail(doc), "file", "File", *more->file ? more->file : NULL);
    doc_known_count(doc_detail(doc), "line", "Line", more->line != 0, more->line);
}

static int add_groups(struct doc *doc, const struct job *job, struct err *err)
{
    doc_list_begin(doc, "groups", "Ranks that are alike");
    for (size_t i = job->group_count; i-- > 0;) {
        const struct job_group *group = &job->groups[i];
        char who[WHO_BYTES];

        if (who_name_group(who, job, group, err))
            return -1;
        doc_row_begin(doc);
        doc_text(doc, "who", "Who", who);
        doc_count(doc_detail(doc), "places", "Places", group->count);
        doc_count(doc_detail(doc), "replayed", "Replayed", (uint64_t)replays_of(job, group));
        doc_text(doc, "layer", "Layer", job_highest(job, group)->layer);
        doc_bytes(doc, "peak_bytes", "Peak", group->peak_bytes);
        doc_bytes(doc, "lowest_peak_bytes", "Lowest peak", group->lowest_bytes);
        doc_bool(doc_detail(doc), "is_typical", "Typical",
                 i == job->typical && job_has_typical(job));
        doc_text(doc_detail(doc), "trace", "Trace",
                 job->surveys[job_highest(job, group)->trace].path);
        add_more(doc, &group->more);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

static void add_cards(struct doc *doc, const struct job *job)
{
    doc_list_begin(doc, "cards", "Processes on one card, at the moment of their highest sum");
    for (size_t i = 0; i < job->cards.count; i++) {
        const struct shared_card *card = &job->cards.items[i];

        for (int n = 0; n < card->count; n++) {
            const struct survey *survey = &job->surveys[card->processes[n].trace];

            doc_row_begin(doc);
            doc_text(doc, "uuid", "Card", card->uuid);
            doc_text(doc, "trace", "Trace", survey->path);
            doc_known_integer(doc_detail(doc), "rank", "Rank", DOC_COUNT, survey->rank.known,
                              survey->rank.value);
            doc_bytes(doc, "bytes", "Held", card->processes[n].then_bytes);
            doc_bytes(doc, "sum_bytes", "Together", card->highest_bytes);
            doc_bytes(doc_detail(doc), "sum_of_peaks_bytes", "Sum of peaks", card->peaks_bytes);
            doc_known_bytes(doc_detail(doc), "total_bytes", "Total", card->total_bytes != 0,
                            card->total_bytes);
            doc_integer(doc_detail(doc), "at_unix_ns", "At", DOC_NS, card->highest_unix_ns);
            doc_bool(doc_detail(doc), "is_all_known", "All known", card->is_known);
            doc_row_end(doc);
        }
    }
    doc_list_end(doc);
}

static void add_peaks(struct doc *doc, const struct job *job)
{
    doc_list_begin(doc_detail(doc), "peaks", "Peaks");
    for (int trace = 0; trace < job->count; trace++)
        for (size_t i = 0; i < job->place_count; i++) {
            const struct job_place *place = &job->places[i];
            const struct trace_integer *rank = &job->surveys[trace].rank;

            if (place->trace != trace)
                continue;
            doc_row_begin(doc);
            doc_known_integer(doc, "rank", "Rank", DOC_COUNT, rank->known, rank->value);
            page_device_number(doc, "Device", place->device);
            doc_text(doc, "uuid", "UUID", *place->uuid ? place->uuid : NULL);
            doc_text(doc, "layer", "Layer", place->layer);
            doc_bytes(doc, "peak_bytes", "Peak", place->peak_bytes);
            doc_text(doc, "trace", "Trace", job->surveys[trace].path);
            doc_text(doc, "replayed", "Replayed",
                     place->is_recorded ? NULL : job->surveys[place->like].path);
            doc_row_end(doc);
        }
    doc_list_end(doc);
}

/* Says how many traces were replayed, and how many have a page. */
static void add_note(struct doc *doc, const struct job *job, int shown)
{
    int replayed = 0, recorded = 0, distinct = 0;
    for (int i = 0; i < job->count; i++) {
        const bool is_recorded = job->surveys[i].peaks.are_known;

        recorded += is_recorded;
        replayed += !is_recorded && job->like[i] == i;
        distinct += job->like[i] == i;
    }
    doc_count(doc_detail(doc), "replayed_traces", "replayed", (uint64_t)replayed);
    doc_count(doc_detail(doc), "recorded_traces", "recorded", (uint64_t)recorded);
    doc_count(doc_detail(doc), "shown_traces", "shown", (uint64_t)shown);
    if (replayed + recorded < job->count)
        doc_note(doc,
                 "%d of %d traces were replayed. Each other trace has as many allocations and "
                 "bytes as one of them, and is taken to be alike; --every-trace replays all.",
                 replayed, job->count);
    if (shown < distinct)
        doc_note(doc, "%d of them are shown; --every-trace shows all.", shown);
}

int page_job_add(struct doc *doc, const struct job *job, int shown, int failed, struct err *err)
{
    uint64_t complete = 0, lost = 0;
    for (int i = 0; i < job->count; i++) {
        complete += job->surveys[i].is_complete;
        lost += job->surveys[i].lost_events > 0 ? (uint64_t)job->surveys[i].lost_events : 0;
    }
    doc_count(doc, "traces", "traces", (uint64_t)job->count);
    doc_count(doc, "complete_traces", "complete", complete);
    doc_count(doc, "lost_events", "lost events", lost);
    doc_ratio(doc, "imbalance_ratio", "imbalance", job->imbalance_ratio);
    doc_words(doc, "%.2f, the highest peak over the mean", job->imbalance_ratio);
    doc_text(doc_detail(doc), "failed_trace", "failed",
             failed < 0 ? NULL : job->surveys[failed].path);
    add_note(doc, job, shown);
    if (add_groups(doc, job, err))
        return -1;
    add_cards(doc, job);
    add_peaks(doc, job);
    return 0;
}

/* --- the traces that have a page --- */

static bool is_chosen(const int *shown, int count, int trace)
{
    for (int i = 0; i < count; i++)
        if (shown[i] == trace)
            return true;
    return false;
}

static int choose(int *shown, int count, int trace)
{
    if (count < JOB_PAGES_MOST && !is_chosen(shown, count, trace))
        shown[count++] = trace;
    return count;
}

/* True if a refused allocation may have ended the program. A program that ended well may have
 * retried the allocation, so it died of none. */
static bool may_have_died(const struct survey *survey)
{
    return survey->refused_count && !(survey->exit_status.known && !survey->exit_status.value);
}

/* Chooses the typical rank, some ranks that may have died, and the highest rank of each group, from
 * the highest group down. If there is still room, chooses the first ranks. */
static int choose_few(const struct job *job, int *chosen)
{
    int count = 0;
    if (job->group_count)
        count = choose(chosen, count, job_middle(job, &job->groups[job->typical])->like);
    for (int i = 0; i < job->count && count < JOB_PAGES_MOST / 2; i++)
        count = may_have_died(&job->surveys[i]) ? choose(chosen, count, job->like[i]) : count;
    for (size_t i = job->group_count; i-- > 0;)
        count = choose(chosen, count, job_highest(job, &job->groups[i])->like);
    for (int i = 0; i < job->count; i++)
        count = job->like[i] == i ? choose(chosen, count, i) : count;
    return count;
}

int page_job_choose(const struct job *job, bool takes_all, int *shown)
{
    int chosen[JOB_PAGES_MOST], count = 0, few = choose_few(job, chosen), distinct = 0;
    for (int i = 0; i < job->count; i++)
        distinct += job->like[i] == i;
    const bool shows_all = takes_all || distinct <= JOB_PAGES_MOST;
    for (int used = 1; used >= 0; used--)
        for (int i = 0; i < job->count; i++)
            if (job->like[i] == i && job_used_memory(job, i) == (used == 1) &&
                (shows_all || is_chosen(chosen, few, i)))
                shown[count++] = i;
    return count;
}
