/* SPDX-License-Identifier: MIT */
/* The ranks of a job beside each other; see groups.h. */
#include "groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/diff/run_diff.h"
#include "analyzer/page/diff/rows.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/page/parts.h"

enum { LABEL_BYTES = 256, NAMES_SHOWN = 4, GROUPS_COMPARED = 3 };

/* --- who --- */

static bool has_several_devices(const struct job *job)
{
    for (size_t i = 0; i < job->used_count; i++)
        for (size_t j = 0; j < i; j++)
            if (job->by_peak[i].trace == job->by_peak[j].trace)
                return true;
    return false;
}

static bool has_ranks(const struct job *job)
{
    for (int i = 0; i < job->count; i++)
        if (!job->surveys[i].rank.known)
            return false;
    return true;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A rank, or where a trace has none its place among the traces; and a device. */
struct who {
    int64_t rank;
    int device, trace;
};

static int compare_whos(const void *left, const void *right)
{
    const struct who *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void name_run(struct text *text, const struct job *job, const struct who *whos, size_t count,
                     bool has_names)
{
    if (!has_names) {
        for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
            text_addf(text, "%s%.60s", i ? ", " : "", file_name(job->surveys[whos[i].trace].path));
        if (count > NAMES_SHOWN)
            text_addf(text, " and %zu more", count - NAMES_SHOWN);
        return;
    }
    text_add(text, count > 1 ? "ranks " : "rank ");
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && whos[end].rank <= whos[end - 1].rank + 1; end++)
            ;
        text_addf(text, "%s%" PRId64, i ? "," : "", whos[i].rank);
        if (whos[end - 1].rank > whos[i].rank)
            text_addf(text, "-%" PRId64, whos[end - 1].rank);
    }
}

/* "ranks 0-62", "rank 0 device 1", "train.db, eval.db". */
static const char *name_whos(char label[LABEL_BYTES], const struct job *job, struct who *whos,
                             size_t count, bool with_devices)
{
    static const char cut[] = " …";
    const bool has_names = has_ranks(job);
    struct text text;

    text_init_in(&text, label, LABEL_BYTES - strlen(cut));
    qsort(whos, count, sizeof *whos, compare_whos);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && (!with_devices || whos[end].device == whos[i].device);
             end++)
            ;
        text_add(&text, i ? "; " : "");
        name_run(&text, job, whos + i, end - i, has_names);
        if (with_devices)
            text_addf(&text, " device %d", whos[i].device);
    }
    if (text_failed(&text))
        memcpy(label + text.length, cut, sizeof cut);
    return label;
}

static struct who who_of(const struct job *job, int trace, int device)
{
    const struct trace_integer *rank = &job->surveys[trace].rank;

    return (struct who){
        .rank = rank->known ? rank->value : trace, .device = device, .trace = trace};
}

static int name_group(char label[LABEL_BYTES], const struct job *job, const struct job_group *group,
                      struct err *err)
{
    const bool with_devices = has_several_devices(job);
    struct who *whos = array_new(group->count, sizeof *whos, err);

    if (!whos)
        return -1;
    for (size_t i = 0; i < group->count; i++) {
        const struct job_place *place = &job->by_peak[group->first + i];

        whos[i] = who_of(job, place->trace, with_devices ? place->device : 0);
    }
    name_whos(label, job, whos, group->count, with_devices);
    free(whos);
    return 0;
}

/* Those without memory; 0: there are none. */
static int name_unused(char label[LABEL_BYTES], const struct job *job, struct err *err)
{
    struct who *whos = array_new((size_t)job->count, sizeof *whos, err);
    size_t count = 0;

    if (!whos)
        return -1;
    for (int i = 0; i < job->count; i++)
        if (!job_used_memory(job, i))
            whos[count++] = who_of(job, i, 0);
    name_whos(label, job, whos, count, false);
    free(whos);
    return (int)count;
}

static const struct job_place *highest_of(const struct job *job, const struct job_group *group)
{
    return &job->by_peak[group->first + group->count - 1];
}

/* The median of the group. */
static const struct job_place *middle_of(const struct job *job, const struct job_group *group)
{
    return &job->by_peak[group->first + (group->count - 1) / 2];
}

/* --- what one holds more than another --- */

struct more {
    char text[PAGE_GUILTY_BYTES]; /* "train.py:88 main: it holds 8.80 GiB more"; "": nothing does */
    char site[HELD_STEP_BYTES], file[HELD_STEP_BYTES];
    uint32_t line;
    uint64_t bytes;
};

static struct run_diff_side side_of(const struct study *study, int device)
{
    const struct device_use *use = history_device(&study->history, device);
    const struct stock *stock = use ? &study->history.stocks[use->leading] : NULL;

    return (struct run_diff_side){.study = stock ? study : NULL,
                                  .stock = use ? use->leading : 0,
                                  .index = stock ? stock->peak.index : INDEX_NONE};
}

static int compare_studies(struct more *more, const struct run_diff_side *typical,
                           const struct run_diff_side *other, struct err *err)
{
    struct run_diff change;

    if (run_diff_find(&change, typical, other, err))
        return -1;
    const struct diff_row *row = run_diff_guilty(&change);
    page_diff_guilty(&change, more->text);
    if (row) {
        const struct held_step *step = &change.difference.nodes[row->node].step;

        more->bytes = (uint64_t)row->delta_bytes;
        snprintf(more->site, sizeof more->site, "%s", row->who);
        if (row->node) {
            snprintf(more->file, sizeof more->file, "%s",
                     change.difference.names->texts[step->file]);
            more->line = step->line;
        }
    }
    run_diff_release(&change);
    return 0;
}

static int find_more(struct more *more, const struct job *job, const struct job_place *typical,
                     const struct job_place *other, struct err *err)
{
    const struct study_ask ask = {0};
    const bool is_one_trace = typical->replayed == other->replayed;
    struct study studies[2];
    int status = -1;

    *more = (struct more){0};
    if (study_open(&studies[0], job->surveys[typical->replayed].path, &ask, err))
        return -1;
    trace_close_events(&studies[0].trace);
    if (!is_one_trace && study_open(&studies[1], job->surveys[other->replayed].path, &ask, err))
        goto out;
    const struct run_diff_side before = side_of(&studies[0], typical->replayed_device),
                               after =
                                   side_of(&studies[is_one_trace ? 0 : 1], other->replayed_device);
    status = compare_studies(more, &before, &after, err);
    if (!is_one_trace)
        study_release(&studies[1]);
out:
    study_release(&studies[0]);
    return status;
}

/* --- the answer --- */

static int say_groups(struct text_list *said, const struct job *job, struct err *err)
{
    const struct job_group *typical = &job->groups[job->typical];
    const struct job_group *low = &job->groups[0];
    char who[LABEL_BYTES], least[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
    const struct job_place *place = highest_of(job, typical);
    const bool is_range = typical->lowest_bytes != typical->peak_bytes;

    if (name_group(who, job, typical, err))
        return -1;
    units_bytes(least, typical->lowest_bytes);
    units_bytes(most, typical->peak_bytes);
    if (*who >= 'a' && has_ranks(job))
        *who = (char)(*who - 'a' + 'A');
    if (text_list_add(said, err, "%s %s at %s%s%s (%s).", who,
                      typical->count > 1 ? "peak" : "peaks", least, is_range ? " to " : "",
                      is_range ? most : "", place->layer))
        return -1;
    if (low == typical || job_outlier(job))
        return 0;
    return name_group(who, job, low, err) || text_list_add(said, err, "The lowest: %s at %s.", who,
                                                           units_bytes(least, low->peak_bytes))
               ? -1
               : 0;
}

static int say_outlier(struct text_list *said, const struct job *job, struct err *err)
{
    const struct job_group *group = job_outlier(job), *typical = &job->groups[job->typical];
    char who[LABEL_BYTES], others[LABEL_BYTES], peak[UNITS_TEXT_BYTES], more[UNITS_TEXT_BYTES];
    struct more found;

    if (find_more(&found, job, middle_of(job, typical), highest_of(job, group), err) ||
        name_group(who, job, group, err) || name_group(others, job, typical, err))
        return -1;
    units_bytes(peak, group->peak_bytes);
    units_bytes(more, group->peak_bytes - middle_of(job, typical)->peak_bytes);
    if (has_ranks(job))
        *who = 'R';
    return text_list_add(said, err, "%s %s at %s, %s above %s%s%s.", who,
                         group->count > 1 ? "peak" : "peaks", peak, more, others,
                         *found.text ? "; " : "", found.text);
}

static int say_unused(struct text_list *said, const struct job *job, struct err *err)
{
    char who[LABEL_BYTES];
    const int count = name_unused(who, job, err);

    if (count <= 0)
        return count;
    if (has_ranks(job))
        *who = 'R';
    return count == job->count ? text_list_add(said, err, "No GPU memory was allocated.")
                               : text_list_add(said, err, "%s used no GPU memory.", who);
}

static int say_cards(struct text_list *said, const struct job *job, struct err *err)
{
    for (size_t i = 0; i < job->cards.count; i++) {
        const struct shared_card *card = &job->cards.items[i];
        char sum[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES] = "";

        units_bytes(total, card->total_bytes);
        if (text_list_add(
                said, err,
                "%d processes on %s held %s%s%s%s together at one moment, without their contexts.",
                card->count, card->uuid, card->is_known ? "" : "at least ",
                units_bytes(sum, card->highest_bytes), card->total_bytes ? " of its " : "",
                card->total_bytes ? total : ""))
            return -1;
    }
    return 0;
}

static void add_answer(struct doc *doc, const struct job *job, const struct text_list *said)
{
    const struct job_group *outlier = job_outlier(job);

    doc_list_begin(doc, "answer", NULL);
    for (size_t i = 0; i < said->count; i++)
        doc_text(doc, "sentence", "", said->items[i]);
    doc_list_end(doc);
    if (!outlier) {
        doc_null(doc_detail(doc), "next", "Next", DOC_TEXT);
        return;
    }
    const char *typical = job->surveys[middle_of(job, &job->groups[job->typical])->replayed].path;
    const char *other = job->surveys[highest_of(job, outlier)->trace].path;
    const bool is_one = !strcmp(typical, other);

    doc_textf(doc_detail(doc), "next", "Next", "gpumemtrace %s %s%s%s", is_one ? "peak" : "diff",
              typical, is_one ? "" : " ", is_one ? "" : other);
    doc_note(doc, "Next: gpumemtrace %s %s%s%s", is_one ? "peak" : "diff", typical,
             is_one ? "" : " ", is_one ? "" : other);
}

int page_job_answer(struct doc *doc, const struct job *job, struct err *err)
{
    struct text_list said = {0};

    const int status = (job_outlier(job) && say_outlier(&said, job, err)) ||
                               (job->used_count && say_groups(&said, job, err)) ||
                               say_unused(&said, job, err) || say_cards(&said, job, err)
                           ? -1
                           : 0;
    add_answer(doc, job, &said);
    text_list_release(&said);
    return status;
}

/* --- the table --- */

static int replays_of(const struct job *job, const struct job_group *group)
{
    int count = 0;

    for (size_t i = 0; i < group->count; i++)
        count += job->by_peak[group->first + i].replayed == job->by_peak[group->first + i].trace;
    return count;
}

/* The few that are highest are compared with the typical one. */
static int add_more(struct doc *doc, const struct job *job, size_t number, struct err *err)
{
    const struct job_place *typical = middle_of(job, &job->groups[job->typical]);
    const bool is_compared = number > job->typical && number + GROUPS_COMPARED >= job->group_count;
    struct more more = {0};

    if (is_compared && find_more(&more, job, typical, highest_of(job, &job->groups[number]), err))
        return -1;
    doc_known_bytes(doc_detail(doc), "more_bytes", "More", *more.site != 0, more.bytes);
    doc_text(doc, "more_at", "Holds more at", *more.site ? more.site : NULL);
    doc_words(doc, "%s", more.site);
    doc_text(doc_detail(doc), "file", "File", *more.file ? more.file : NULL);
    doc_known_count(doc_detail(doc), "line", "Line", more.line != 0, more.line);
    return 0;
}

static int add_groups(struct doc *doc, const struct job *job, struct err *err)
{
    int status = 0;

    doc_list_begin(doc, "groups", "Ranks that are alike");
    for (size_t i = job->group_count; i-- > 0 && !status;) {
        const struct job_group *group = &job->groups[i];
        char who[LABEL_BYTES];

        if (name_group(who, job, group, err))
            return -1;
        doc_row_begin(doc);
        doc_text(doc, "who", "Who", who);
        doc_count(doc_detail(doc), "places", "Places", group->count);
        doc_count(doc, "replayed", "Replayed", (uint64_t)replays_of(job, group));
        doc_text(doc, "layer", "Layer", highest_of(job, group)->layer);
        doc_bytes(doc, "peak_bytes", "Peak", group->peak_bytes);
        doc_bytes(doc, "lowest_peak_bytes", "Lowest peak", group->lowest_bytes);
        doc_bool(doc_detail(doc), "is_typical", "Typical", i == job->typical);
        doc_text(doc_detail(doc), "trace", "Trace",
                 job->surveys[highest_of(job, group)->trace].path);
        status = add_more(doc, job, i, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

static void add_cards(struct doc *doc, const struct job *job)
{
    doc_list_begin(doc, "cards", "Processes on one card, at the moment of their highest sum");
    for (size_t i = 0; i < job->cards.count; i++) {
        const struct shared_card *card = &job->cards.items[i];

        for (int n = 0; n < card->count; n++) {
            const struct survey *survey = &job->surveys[card->traces[n]];

            doc_row_begin(doc);
            doc_text(doc, "uuid", "Card", card->uuid);
            doc_text(doc, "trace", "Trace", survey->path);
            if (survey->rank.known)
                doc_integer(doc_detail(doc), "rank", "Rank", DOC_COUNT, survey->rank.value);
            else
                doc_null(doc_detail(doc), "rank", "Rank", DOC_COUNT);
            doc_bytes(doc, "bytes", "Held", card->then_bytes[n]);
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
            if (rank->known)
                doc_integer(doc, "rank", "Rank", DOC_COUNT, rank->value);
            else
                doc_null(doc, "rank", "Rank", DOC_COUNT);
            page_device_number(doc, "Device", place->device);
            doc_text(doc, "uuid", "UUID", *place->uuid ? place->uuid : NULL);
            doc_text(doc, "layer", "Layer", place->layer);
            doc_bytes(doc, "peak_bytes", "Peak", place->peak_bytes);
            doc_text(doc, "trace", "Trace", job->surveys[trace].path);
            doc_text(doc, "replayed", "Replayed", job->surveys[place->replayed].path);
            doc_row_end(doc);
        }
    doc_list_end(doc);
}

/* How the figures came to be, where not each trace was replayed. */
static void add_note(struct doc *doc, const struct job *job, int shown)
{
    int replayed = 0;

    for (int i = 0; i < job->count; i++)
        replayed += job->replayed[i] == i;
    doc_count(doc_detail(doc), "replayed_traces", "replayed", (uint64_t)replayed);
    doc_count(doc_detail(doc), "shown_traces", "shown", (uint64_t)shown);
    if (replayed < job->count)
        doc_note(
            doc,
            "%d of %d traces were replayed; each of the others has as many allocations, of as many "
            "bytes, as a rank that was, and is taken to be alike. --every-trace replays all.",
            replayed, job->count);
    if (shown < replayed)
        doc_note(doc, "The pages of %d of them follow; --every-trace shows all.", shown);
}

int page_job_add(struct doc *doc, const struct job *job, int shown, struct err *err)
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
    add_note(doc, job, shown);
    if (add_groups(doc, job, err))
        return -1;
    add_cards(doc, job);
    add_peaks(doc, job);
    return 0;
}

/* --- which pages --- */

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

/* The typical one, the highest of the groups from the top, then those that are first. */
static int choose_few(const struct job *job, int *chosen)
{
    int count = 0;

    if (job->group_count)
        count = choose(chosen, count, middle_of(job, &job->groups[job->typical])->replayed);
    for (size_t i = job->group_count; i-- > 0;)
        count = choose(chosen, count, highest_of(job, &job->groups[i])->replayed);
    for (int i = 0; i < job->count; i++)
        count = job->replayed[i] == i ? choose(chosen, count, i) : count;
    return count;
}

int page_job_choose(const struct job *job, bool takes_all, int *shown)
{
    int chosen[JOB_PAGES_MOST], count = 0, few = choose_few(job, chosen), replayed = 0;

    for (int i = 0; i < job->count; i++)
        replayed += job->replayed[i] == i;
    const bool shows_all = takes_all || replayed <= JOB_PAGES_MOST;
    for (int used = 1; used >= 0; used--)
        for (int i = 0; i < job->count; i++)
            if (job->replayed[i] == i && job_used_memory(job, i) == (used == 1) &&
                (shows_all || is_chosen(chosen, few, i)))
                shown[count++] = i;
    return count;
}
