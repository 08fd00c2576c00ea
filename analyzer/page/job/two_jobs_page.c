/* SPDX-License-Identifier: MIT */
/* The page of two jobs; see two_jobs_page.h. */
#include "two_jobs_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/job/two_jobs.h"
#include "analyzer/page/diff/rows.h"
#include "analyzer/page/parts.h"
#include "analyzer/page/verdict/verdict.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "who.h"

static size_t group_end(const struct two_jobs *two, size_t first)
{
    size_t end = first + 1;
    while (end < two->count && two->pairs[end].group == two->pairs[first].group)
        end++;
    return end;
}

/* --- names of the ranks --- */

static int name_places(char label[WHO_BYTES], const struct job *job,
                       const struct job_place *const *places, size_t count, struct err *err)
{
    const bool with_devices = who_has_several_devices(job);
    struct who *whos = array_new(count, sizeof *whos, err);
    if (!whos)
        return -1;
    for (size_t i = 0; i < count; i++)
        whos[i] = who_of(job, places[i]->trace, with_devices ? places[i]->device : 0);
    who_name(label, job, whos, count, with_devices);
    free(whos);
    return 0;
}

static int name_pairs(char label[WHO_BYTES], const struct two_jobs *two, size_t first, size_t end,
                      struct err *err)
{
    const struct job_place **places = array_new(end - first, sizeof *places, err);
    if (!places)
        return -1;
    for (size_t i = first; i < end; i++)
        places[i - first] = two->pairs[i].places[1];
    const int status = name_places(label, two->jobs[1], places, end - first, err);
    free(places);
    return status;
}

static void begin_sentence(char *label, const struct job *job)
{
    if (who_has_ranks(job))
        *label = 'R';
}

/* --- the answer --- */

static int say_lead(struct verdict *said, const struct two_jobs *two, const char *guilty,
                    struct err *err)
{
    const struct place_pair *lead = two->pairs;
    const int64_t delta = place_pair_delta(lead);
    const size_t end = group_end(two, 0);
    enum { WHO_CHARACTERS = 20 }; /* the table below has the whole list */
    char who[WHO_BYTES];

    if (name_pairs(who, two, 0, delta ? end : two->count, err))
        return -1;
    begin_sentence(who, two->jobs[1]);
    who_fit(who, WHO_CHARACTERS);
    if (!delta)
        verdict_say(said, VERDICT_what, "%s: no peak changed.", FIT_TEXT(who, WHO_CHARACTERS));
    else
        verdict_say(said, VERDICT_what, "%s: the peak %s by %s%s, from %s to %s (%s).",
                    FIT_TEXT(who, WHO_CHARACTERS), delta > 0 ? "grew" : "fell",
                    end > 1 ? "up to " : "", BYTES_TEXT((uint64_t)(delta < 0 ? -delta : delta)),
                    BYTES_TEXT(lead->bytes[0]), BYTES_TEXT(lead->bytes[1]), lead->places[1]->layer);
    if (delta && *guilty)
        verdict_say(said, VERDICT_who, "%s.", guilty);
    return 0;
}

/* Says how many of the other ranks grew, how many fell and how many stayed the same. */
static void say_others(struct verdict *said, const struct two_jobs *two)
{
    size_t grew = 0, fell = 0, same = 0;
    for (size_t i = group_end(two, 0); i < two->count; i++) {
        const int64_t delta = place_pair_delta(&two->pairs[i]);

        grew += delta > 0;
        fell += delta < 0;
        same += !delta;
    }
    if (grew + fell)
        verdict_say(said, VERDICT_who, "Among the others %zu grew, %zu fell, %zu did not change.",
                    grew, fell, same);
    else if (same && place_pair_delta(two->pairs))
        verdict_say(said, VERDICT_who, "%s did not change.",
                    same == 1 ? "The other one" : "The others");
}

static int say_alone(struct verdict *said, const struct two_jobs *two, int side, struct err *err)
{
    static const char *const words[] = {"is gone", "is new"}, *const of_several[] = {"are gone",
                                                                                     "are new"};
    const size_t count = two->alone_counts[side];
    char who[WHO_BYTES];
    if (!count)
        return 0;
    if (name_places(who, two->jobs[side], two->alone[side], count, err))
        return -1;
    begin_sentence(who, two->jobs[side]);
    verdict_say(said, VERDICT_who, "%s %s.", who, count > 1 ? of_several[side] : words[side]);
    return 0;
}

static int say_all(struct verdict *said, const struct two_jobs *two, struct err *err)
{
    char guilty[PAGE_MORE_BYTES];
    if (say_lead(said, two, page_more(&two->more[0], guilty), err))
        return -1;
    say_others(said, two);
    return say_alone(said, two, 0, err) || say_alone(said, two, 1, err) ? -1 : 0;
}

static int add_answer(struct doc *doc, const struct two_jobs *two, struct err *err)
{
    struct verdict said = {0};
    char *next = NULL;
    int status = say_all(&said, two, err);
    if (asprintf(&next, "gpumemtrace diff %s %s", two_jobs_path(two, two->pairs, 0),
                 two_jobs_path(two, two->pairs, 1)) < 0) {
        err_set(err, ERR_SYSTEM, "out of memory for the answer");
        status = -1;
        next = NULL;
    }
    verdict_write(doc, &said, next, false);
    verdict_release(&said);
    free(next);
    return status;
}

/* --- the tables --- */

static int add_groups(struct doc *doc, const struct two_jobs *two, bool of_driver, struct err *err)
{
    static const struct more nothing;
    doc_list_begin(doc, "groups", "Ranks, by the change of their peaks");
    for (size_t first = 0, end; first < two->count; first = end) {
        const struct place_pair *pair = &two->pairs[first];
        const struct more *more =
            pair->group < TWO_JOBS_COMPARED ? &two->more[pair->group] : &nothing;
        char who[WHO_BYTES];

        end = group_end(two, first);
        if (name_pairs(who, two, first, end, err))
            return -1;
        doc_row_begin(doc);
        doc_text(doc, "who", "Who", who);
        doc_count(doc_detail(doc), "places", "Places", end - first);
        doc_text(doc, "layer", "Layer", of_driver ? "driver" : pair->places[1]->layer);
        page_change(doc, pair->bytes);
        doc_text(doc, "more_at", "Holds more at", *more->site ? more->site : NULL);
        doc_text(doc_detail(doc), "file", "File", *more->file ? more->file : NULL);
        doc_known_count(doc_detail(doc), "line", "Line", more->line != 0, more->line);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

static void add_pairs(struct doc *doc, const struct two_jobs *two)
{
    doc_list_begin(doc_detail(doc), "pairs", "Pairs");
    for (size_t i = 0; i < two->count; i++) {
        const struct place_pair *pair = &two->pairs[i];
        const struct trace_integer *rank = &two->jobs[1]->surveys[pair->places[1]->trace].rank;

        doc_row_begin(doc);
        doc_known_integer(doc, "rank", "Rank", DOC_COUNT, rank->known, rank->value);
        page_device_number(doc, "Device", pair->places[1]->device);
        page_change(doc, pair->bytes);
        doc_text(doc, "before", "Before", two_jobs_path(two, pair, 0));
        doc_text(doc, "after", "After", two_jobs_path(two, pair, 1));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- the pages --- */

static int add_page(struct doc *doc, const struct view *view, const struct two_jobs *two,
                    const struct place_pair *pair, struct err *err)
{
    struct page_diff_options own = *(const struct page_diff_options *)view->own;
    struct view of_pair = *view;
    const struct reading *sides[2] = {NULL, NULL};
    int status = -1;
    for (int i = 0; i < 2; i++)
        if (!(sides[i] =
                  readings_borrow(two->jobs[i]->readings, pair->places[i]->trace, NULL, err)))
            goto out;
    own.before = &sides[0]->study;
    of_pair.own = &own;
    doc_row_begin(doc);
    doc_text(doc_detail(doc), "schema", "schema", page_diff.schema);
    status = page_add_trace(doc, &page_diff, &of_pair, &sides[1]->study, NULL, err);
    doc_row_end(doc);
out:
    for (int i = 0; i < 2; i++)
        if (sides[i])
            readings_give_back(two->jobs[i]->readings, pair->places[i]->trace);
    return status;
}

/* True if an earlier pair has the same trace. The devices of one trace share one page. */
static bool has_page(const struct two_jobs *two, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (two->pairs[i].places[1]->trace == two->pairs[number].places[1]->trace)
            return true;
    return false;
}

static int add_pages(struct doc *doc, const struct view *view, const struct two_jobs *two,
                     bool shows_all, struct err *err)
{
    const size_t count = shows_all || !two->count ? two->count : 1;
    int status = 0;
    doc_list_begin(doc, "traces", NULL);
    for (size_t i = 0; i < count && !status; i++)
        if (!has_page(two, i))
            status = add_page(doc, view, two, &two->pairs[i], err);
    doc_list_end(doc);
    return status;
}

/* --- the whole page --- */

static int add_two_jobs(struct doc *doc, const struct view *view, const struct two_jobs *two,
                        bool shows_all, struct err *err)
{
    const bool of_driver = view->layer == LAYER_driver;
    if (!two->count)
        return err_set(
            err, ERR_INPUT,
            "no rank used memory in both jobs (traces are matched by rank, those without one "
            "by the names of their files); give two traces to compare them as they are");
    if (add_answer(doc, two, err))
        return -1;
    doc_object_begin(doc, "jobs", "Jobs");
    doc_count(doc, "before_traces", "traces before", (uint64_t)two->jobs[0]->count);
    doc_count(doc, "after_traces", "traces after", (uint64_t)two->jobs[1]->count);
    const int status = add_groups(doc, two, of_driver, err);
    add_pairs(doc, two);
    doc_object_end(doc);
    return status ? -1 : add_pages(doc, view, two, shows_all, err);
}

static int match_and_add(struct doc *doc, const struct view *view, struct readings readings[2],
                         bool shows_all, struct err *err)
{
    const struct job_ask ask = {.takes_all = shows_all, .replays_all = shows_all};
    const struct two_jobs_ask compared = {.device = view->device,
                                          .of_driver = view->layer == LAYER_driver};
    struct job jobs[2] = {0};
    struct two_jobs two;
    int status = -1;
    if (!job_read(&jobs[0], &readings[0], &ask, err) &&
        !job_read(&jobs[1], &readings[1], &ask, err) &&
        !two_jobs_match(&two, &jobs[0], &jobs[1], &compared, err)) {
        status = add_two_jobs(doc, view, &two, shows_all, err);
        two_jobs_release(&two);
    }
    job_release(&jobs[0]);
    job_release(&jobs[1]);
    return status;
}

static int read_and_add(struct doc *doc, const struct view *view, const struct trace_files *before,
                        const struct trace_files *after, bool shows_all, struct err *err)
{
    struct readings readings[2] = {0};
    struct reading_ask asks[2];
    int status = -1;
    page_diff_ask_before(&asks[0], view);
    page_ask(&asks[1], &page_diff, view, doc);
    if (!readings_init(&readings[0], before->paths, before->count, &asks[0], err) &&
        !readings_init(&readings[1], after->paths, after->count, &asks[1], err))
        status = match_and_add(doc, view, readings, shows_all, err);
    readings_release(&readings[0]);
    readings_release(&readings[1]);
    return status;
}

int page_build_two_jobs(struct doc **doc, enum doc_level reads, const struct view *view,
                        const struct trace_files *before, const struct trace_files *after,
                        bool shows_all, struct err *err)
{
    struct doc *built = doc_new("gpumemtrace.reports/1", reads);
    if (!built)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    if (read_and_add(built, view, before, after, shows_all, err)) {
        doc_free(built);
        return -1;
    }
    *doc = built;
    return 0;
}
