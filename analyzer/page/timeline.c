/* SPDX-License-Identifier: MIT */
/* The page of `timeline`: live bytes by time, event or step. A summary draws bars. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"

enum { CUTS = 500, SUMMARY_CUTS = 40, BAR_COLUMNS = 24, SHORT_BAR_COLUMNS = 10 };

static void ask_timeline(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    const struct page_timeline_options *options = view->own;
    ask->timeline = options->ask;
    ask->timeline_device = view->device;
    ask->timeline_of_driver = view->layer == LAYER_driver;
    ask->timeline_by = (enum breakdown_by)options->by;
    if (!ask->timeline.cut_count)
        ask->timeline.cut_count = doc_takes(doc, DOC_DETAIL) ? CUTS : SUMMARY_CUTS;
}

/* --- a row --- */

/* The row that is being written. Rows show one account, from cut to cut. */
struct line {
    struct doc *doc;
    const struct study *study;
    /* driver is the driver's account, shown beside account; HISTORY_NONE: it is not shown */
    uint32_t account, driver;
    const struct timeline_cut *cuts;
    size_t row; /* number of the current cut among the cuts that are present */
    /* bytes at the end of the previous cut; later, the most bytes in the current cut */
    uint64_t driver_bytes;
    enum breakdown_by by;
};

static uint64_t begin_of(const struct timelines *timelines, size_t cut)
{
    return timelines->begin + cut * timelines->width;
}

static void add_begin(const struct line *line, size_t cut)
{
    const struct timelines *timelines = &line->study->timelines;
    const uint64_t begin = begin_of(timelines, cut);
    char text[UNITS_TEXT_BYTES];
    switch (timelines->ask.axis) {
    case TIMELINE_EVENT:
        doc_count(line->doc, "begin", "Event", begin);
        return;
    case TIMELINE_STEP:
        doc_count(line->doc, "begin", "Step", begin);
        return;
    case TIMELINE_TIME:
        break;
    }
    page_time(line->doc, line->study, "begin", "Time", begin);
    if (study_has_times(line->study))
        doc_words(line->doc, "%s",
                  units_time(text, begin, begin_of(timelines, timelines->used), timelines->width));
}

static const char *group_key(const struct line *line, size_t group)
{
    if (line->by == BREAKDOWN_BY_CATEGORY)
        return category_key((enum category)group);
    return group + 1 == line->study->breakdown.groups.count
               ? NULL
               : study_path(line->study, (uint32_t)group);
}

/* Adds the largest groups of a moment: "activations 3.10 GiB, parameters 1.00 GiB, …". */
static void add_largest_groups(const struct line *line)
{
    enum { MOST = 3, BYTES = 512 };
    const struct breakdown *breakdown = &line->study->breakdown;
    char text[BYTES] = "";
    uint64_t below = UINT64_MAX;
    size_t length = 0, shown_count = 0, before = 0;

    /* Takes the next largest group: it is smaller than the previous one, or equal and further on in
     * the list. */
    for (; shown_count <= MOST && length < BYTES; shown_count++) {
        size_t largest = breakdown->groups.count;
        uint64_t most = 0;
        for (size_t i = 0; i < breakdown->groups.count; i++) {
            const uint64_t bytes = breakdown_bytes(breakdown, line->account, i, line->row);
            if (bytes > most && (bytes < below || (bytes == below && i > before))) {
                largest = i;
                most = bytes;
            }
        }
        if (!most)
            break;
        const char *key = group_key(line, largest);
        if (shown_count == MOST)
            snprintf(text + length, sizeof text - length, ", …");
        else
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%s %s", length ? ", " : "",
                                 key ? key : PAGE_OUTSIDE, BYTES_TEXT(most));
        below = most;
        before = largest;
    }
    doc_text(doc_summary(line->doc), NULL,
             line->by == BREAKDOWN_BY_PHASE ? "By phase of birth" : "By category", text);
}

/* Adds the fields that every row of the cut has. */
static void add_cut(const struct line *line, size_t cut)
{
    const struct timeline_cut *own = &line->cuts[cut];
    const struct account *account = &line->study->history.accounts[line->account];
    const bool is_broken_down = line->by > BREAKDOWN_BY_LAYER;
    const char *path = study_path(line->study, own->path);
    struct doc *doc = line->doc;
    page_layer(doc_detail(doc), line->study, account, "Layer");
    add_begin(line, cut);
    page_time(doc_detail(doc), line->study, "time_ns", "Highest at", own->time_ns);
    doc_count(doc_detail(doc), "seq", "Event", own->seq);
    doc_known_count(doc_detail(doc), "step", "Step", own->step > 0, own->step);
    doc_bytes(doc, "live_bytes", "Most live", own->max_bytes);
    doc_bytes(doc_detail(doc), "lowest_bytes", "Least live", own->min_bytes);
    if (line->driver != HISTORY_NONE)
        doc_bytes(doc_spare(doc_summary(doc)), NULL, "Driver", line->driver_bytes);
    doc_bar(doc, account->peak_bytes ? (double)own->max_bytes / (double)account->peak_bytes : 0,
            is_broken_down ? SHORT_BAR_COLUMNS : BAR_COLUMNS);
    if (is_broken_down && doc_takes(doc, DOC_SUMMARY))
        add_largest_groups(line);
    doc_text(doc, "phase", "Phase", path);
    doc_words(doc, "%s", path ? path : PAGE_OUTSIDE);
}

/* Adds a row for each group of the moment, so that CSV has one table. */
static void add_groups(const struct line *line, size_t cut)
{
    const struct breakdown *breakdown = &line->study->breakdown;
    struct doc *doc = line->doc;
    for (size_t i = 0; i < breakdown->groups.count; i++) {
        const uint64_t bytes = breakdown_bytes(breakdown, line->account, i, line->row);

        if (!bytes)
            continue;
        doc_row_begin(doc_detail(doc));
        add_cut(line, cut);
        doc_text(doc, line->by == BREAKDOWN_BY_PHASE ? "phase_of_birth" : "category", "Of",
                 group_key(line, i));
        doc_bytes(doc, "bytes", "Bytes", bytes);
        doc_row_end(doc);
    }
}

/* --- lines --- */

/* Updates the driver's column. The last value stays if the driver's memory did not change in the
 * cut. */
static void follow_driver(struct line *line, size_t cut, bool is_before)
{
    const struct timeline_cut *cuts =
        line->driver == HISTORY_NONE ? NULL : timelines_of(&line->study->timelines, line->driver);
    if (cuts && cuts[cut].is_present)
        line->driver_bytes = is_before ? cuts[cut].max_bytes : cuts[cut].last_bytes;
}

static void add_line(struct line *line, bool is_shown)
{
    for (size_t i = 0; line->cuts && i < line->study->timelines.used; i++) {
        follow_driver(line, i, true);
        if (line->cuts[i].is_present) {
            if (line->by > BREAKDOWN_BY_LAYER && doc_takes(line->doc, DOC_DETAIL)) {
                add_groups(line, i);
            } else {
                doc_row_begin(doc_detail_if(line->doc, !is_shown));
                add_cut(line, i);
                doc_row_end(line->doc);
            }
            line->row++;
        }
        follow_driver(line, i, false);
    }
}

/* Draws the highest value of each cut. If a cut has no changes, draws the bytes that were live
 * before this cut. */
static void add_graph(struct doc *doc, const struct timelines *timelines,
                      const struct timeline_cut *cuts)
{
    int64_t *values = cuts ? doc_graph(doc, DOC_BYTES, timelines->used) : NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; values && i < timelines->used; i++) {
        values[i] = (int64_t)(cuts[i].is_present ? cuts[i].max_bytes : bytes);
        bytes = cuts[i].is_present ? cuts[i].last_bytes : bytes;
    }
}

static const char *axis_text(enum timeline_axis axis)
{
    static const char *const texts[] = {
        [TIMELINE_TIME] = "time", [TIMELINE_EVENT] = "event", [TIMELINE_STEP] = "step"};
    return texts[axis];
}

static int add_timeline(struct doc *doc, const struct study *study, const struct device_use *use,
                        const struct view *view, struct err *err)
{
    const struct page_timeline_options *options = view->own;
    const uint32_t driver = use->accounts[ACCOUNT_device];
    const bool has_driver = view->layer == LAYER_none &&
                            history_knows(&study->history, &study->history.accounts[driver]);
    struct page_accounts accounts;
    (void)err;
    page_accounts_find(&accounts, doc, study, use, view);
    doc_text(doc_detail(doc), "axis", "axis", axis_text(study->timelines.ask.axis));
    doc_count(doc_detail(doc), "width", "width", study->timelines.width);
    if (accounts.count)
        doc_text(doc_summary(doc), NULL, "layer",
                 LAYER_TEXT(study, &study->history.accounts[accounts.numbers[0]]));
    if (accounts.count)
        add_graph(doc, &study->timelines, timelines_of(&study->timelines, accounts.numbers[0]));
    doc_list_begin(doc, "timeline", "Live over time");
    for (size_t i = 0; i < accounts.count && doc_takes(doc, DOC_BOTH); i++) {
        struct line line = {.doc = doc,
                            .study = study,
                            .account = accounts.numbers[i],
                            .driver =
                                has_driver && accounts.numbers[i] != driver ? driver : HISTORY_NONE,
                            .cuts = timelines_of(&study->timelines, accounts.numbers[i]),
                            .by = (enum breakdown_by)options->by};
        add_line(&line, i == 0);
    }
    doc_list_end(doc);
    return 0;
}

/* --- the answer --- */

static const struct timeline_cut *highest_cut(const struct timelines *timelines,
                                              const struct timeline_cut *cuts)
{
    const struct timeline_cut *highest = NULL;
    for (size_t i = 0; cuts && i < timelines->used; i++)
        if (cuts[i].is_present && (!highest || cuts[i].max_bytes > highest->max_bytes))
            highest = &cuts[i];
    return highest;
}

static uint64_t last_bytes(const struct timelines *timelines, const struct timeline_cut *cuts)
{
    for (size_t i = timelines->used; i-- > 0;)
        if (cuts[i].is_present)
            return cuts[i].last_bytes;
    return 0;
}

static void say_line(struct opening *opening, const struct study *study,
                     const struct device_use *use, const struct view *view)
{
    const struct timelines *timelines = &study->timelines;
    const uint32_t number = study_account(study, use, view);
    const struct timeline_cut *cuts =
        number == HISTORY_NONE ? NULL : timelines_of(timelines, number);
    const struct timeline_cut *highest = highest_cut(timelines, cuts);
    const bool is_part = timelines->ask.from.unit || timelines->ask.to.unit;
    if (!highest)
        return;
    const char *path = study_path(study, highest->path);
    page_say(opening, VERDICT_what, "The %s %s %s%s%s%s.",
             LAYER_TEXT(study, &study->history.accounts[number]),
             is_part ? "held at most" : "peaked at", BYTES_TEXT(highest->max_bytes),
             OF_CARD_TEXT(study_card_bytes(study, use->device)), is_part ? " there" : "",
             AFTER_START_TEXT(study, highest->time_ns));
    page_say(opening, VERDICT_why, "The highest moment was %s%s; %s was live at %s end.",
             path ? "in phase " : "outside any phase", path ? path : "",
             BYTES_TEXT(last_bytes(timelines, cuts)), is_part ? "its" : "the");
}

/* Reports a usage error if the user asked for a part of the run in which there is nothing to
 * show. */
static int check_part(const struct study *study, struct err *err)
{
    const struct timeline_ask *ask = &study->timelines.ask;
    const struct moment *last = &study->history.last;
    if (last->index == INDEX_NONE)
        return 0;
    if (timeline_needs_steps(ask) && study->timelines.kind == STEP_ENDS)
        return err_set(
            err, ERR_USAGE,
            "the program marks no steps: gpumemtrace_step() or an NVTX range \"step\" marks "
            "one; --axis=time and --axis=event need none");
    if (study->timelines.is_begun || !study->timelines.has_changes)
        return 0;
    return err_set(err, ERR_USAGE,
                   "nothing was live between --from and --to; the last event is %" PRIu64
                   ", %s after the start",
                   last->seq, DURATION_TEXT((int64_t)last->time_ns));
}

static int answer_timeline(struct opening *opening, const struct study *study,
                           const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    if (check_part(study, err))
        return -1;
    for (size_t i = 0; i < history->device_count; i++)
        if (view->device < 0 || view->device == history->devices[i].device)
            say_line(opening, study, &history->devices[i], view);
    page_next(opening, "peak");
    return 1;
}

const struct page page_timeline = {.schema = "gpumemtrace.timeline/1",
                                   .ask = ask_timeline,
                                   .answer = answer_timeline,
                                   .device = add_timeline,
                                   .tail = page_warnings};
