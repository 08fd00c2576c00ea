/* SPDX-License-Identifier: MIT */
/* The page of `steps`: the peak of each step, the one that stands out, and how old the memory
 * is. */
#include "analyzer/page/parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "findings.h"
#include "analyzer/util/array.h"

enum { STEP_FRAME_LINES = 4, STEP_ROWS = 20 };

/* --- the step that stands out --- */

/* Adds the work of the driver. A trace that another tool recorded has no refused calls, so these
 * figures are not known for it. */
static void add_work(struct doc *doc, const struct study *study, const struct driver_work *work)
{
    const bool known = !history_is_imported(&study->history);
    doc_known_count(doc_spare(doc), "driver_calls", "Driver calls", known, work->calls_count);
    doc_known_count(doc, "retries", "Retries", known, work->retries_count);
    doc_known_bytes(doc_spare(doc), "flushed_bytes", "Flushed", known, work->flushed_bytes);
}

static void add_step(struct doc *doc, const struct study *study, const struct step *step)
{
    doc_count(doc, "step", "Step", step->number);
    doc_bytes(doc, "peak_bytes", "Peak", step->peak_bytes);
    doc_bytes(doc, "start_bytes", "At its start", step->start_bytes);
    doc_bytes(doc, "end_bytes", "At its end", step->end_bytes);
    doc_bytes(doc, "allocated_bytes", "Allocated", step->allocated_bytes);
    add_work(doc, study, &step->work);
    page_time(doc_detail(doc), study, "begin_ns", "Begin", step->begin_ns);
    page_time(doc, study, "duration_ns", "Duration", step->end_ns - step->begin_ns);
}

static const char *cause_key(enum outlier_cause cause)
{
    static const char *const keys[] = {[OUTLIER_NONE] = NULL,
                                       [OUTLIER_FIRST] = "first step",
                                       [OUTLIER_BEGAN] = "live at its start",
                                       [OUTLIER_NEW] = "new call stacks",
                                       [OUTLIER_MORE] = "more bytes at the same call stacks",
                                       [OUTLIER_KEPT] = "more live at once"};
    return keys[cause];
}

static void add_outlier(struct doc *doc, const struct study *study, const struct outlier *outlier)
{
    const bool knows = outlier->has_typical;
    doc_object_begin(doc, "outlier", "The highest step");
    add_step(doc, study, &outlier->step);
    doc_bool(doc, "ended", "Ended", !outlier->is_open);
    doc_text(doc_detail_if(doc, outlier->cause == OUTLIER_NONE), "cause", "Cause",
             cause_key(outlier->cause));
    doc_known_bytes(doc, "typical_peak_bytes", "Typical peak", knows, outlier->typical_peak_bytes);
    doc_known_bytes(doc, "typical_start_bytes", "Typical start", knows,
                    outlier->typical_start_bytes);
    doc_known_bytes(doc_detail(doc), "new_bytes", "Of new call stacks", knows, outlier->new_bytes);
    doc_known_bytes(doc_detail(doc), "more_bytes", "More of known ones", knows,
                    (uint64_t)(outlier->more_bytes + 0.5));
    doc_known_ratio(doc_detail(doc), "more_ratio", "Times as much", outlier->more_ratio > 0,
                    outlier->more_ratio);
    doc_known_ratio(doc_detail(doc), "larger_ratio", "Blocks times as large",
                    outlier->larger_ratio > 0, outlier->larger_ratio);
    doc_object_end(doc);
}

/* --- allocations of the step that stands out: by call stack in details, by line in a summary
 * --- */

/* The call stacks that have one label. */
struct outlier_row {
    const struct blamed *blamed; /* label of the first of these call stacks */
    size_t stack_count;
    uint64_t bytes;
    double typical_bytes;
};

static double more_bytes(const struct outlier_row *row)
{
    return (double)row->bytes - row->typical_bytes;
}

ORDER_BY(compare_rows, struct outlier_row, FALLING_IN(more_bytes));

/* Returns one row for each call stack, or one for each label. The caller frees the rows. Returns
 * NULL if there is no memory. */
static struct outlier_row *find_rows(size_t *count, const struct step_findings *found,
                                     bool each_stack, struct err *err)
{
    const struct outlier *outlier = &found->outlier;
    const size_t limit = each_stack ? outlier->count : found->blame.count;
    struct outlier_row *rows = array_new(limit, sizeof *rows, err);
    *count = rows ? limit : 0;
    for (size_t i = 0; rows && i < outlier->count; i++) {
        const struct outlier_site *site = &outlier->sites[i];
        const struct blamed *blamed = step_findings_of_site(found, site);
        struct outlier_row *row = &rows[each_stack ? i : blamed->row];
        if (!row->stack_count++)
            row->blamed = blamed;
        row->bytes += site->bytes;
        row->typical_bytes += site->typical_bytes;
    }
    if (rows && !each_stack)
        SORT(rows, limit, compare_rows);
    while (*count && !rows[*count - 1].stack_count)
        --*count;
    return rows;
}

static int add_outlier_sites(struct doc *doc, const struct study *study, const struct view *view,
                             const struct step_findings *found, struct err *err)
{
    size_t count;
    struct outlier_row *rows = find_rows(&count, found, doc_takes(doc, DOC_DETAIL), err);
    const size_t limit = view_limit(view, count);
    int status = rows ? 0 : -1;
    doc_list_begin(doc_detail_if(doc, found->outlier.cause == OUTLIER_NONE), "outlier_sites",
                   "Allocated beyond a typical step");
    for (size_t i = 0; i < limit && !status; i++) {
        const struct outlier_row *row = &rows[i];
        doc_row_begin(doc_detail_if(doc, !view->top && i >= PAGE_SITES));
        doc_bytes(doc, "bytes", "In this step", row->bytes);
        doc_bytes(doc, "typical_bytes", "Typically", (uint64_t)(row->typical_bytes + 0.5));
        status = page_frames_of(doc, study, view, row->blamed, row->stack_count - 1,
                                STEP_FRAME_LINES, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    free(rows);
    return status;
}

/* --- ages --- */

static void add_ages(struct doc *doc, const struct step_findings *found)
{
    doc_list_begin(doc, "ages", "Age of the memory at the peak");
    for (int age = 0; age < AGE_COUNT && found->ages.ordinal; age++) {
        if (!found->ages.rows[age].count)
            continue;
        doc_row_begin(doc);
        doc_text(doc, "age", "From", age_text((enum age)age));
        doc_bytes(doc, "bytes", "Bytes", found->ages.rows[age].bytes);
        doc_count(doc, "blocks", "Blocks", found->ages.rows[age].count);
        doc_bytes(doc, "most_bytes", "Most", found->ages.rows[age].site_bytes);
        doc_text(doc, "most_site", "By", step_findings_of_age(found, (enum age)age)->label);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- over the run --- */

static void add_window(struct doc *doc, const struct study *study, const struct step *step,
                       uint64_t first, uint64_t last)
{
    doc_count(doc, "first_step", "Steps", first);
    if (last > first)
        doc_words(doc, "%" PRIu64 " to %" PRIu64, first, last);
    doc_count(doc_detail(doc), "last_step", "To", last);
    doc_bytes(doc, "peak_bytes", "Highest peak", step->peak_bytes);
    doc_count(doc, "highest_step", "In step", step->number);
    doc_bytes(doc, "start_bytes", "At its start", step->start_bytes);
    doc_bytes(doc, "end_bytes", "At its end", step->end_bytes);
    doc_bytes(doc, "allocated_bytes", "Allocated", step->allocated_bytes);
    add_work(doc, study, &step->work);
    page_time(doc, study, "duration_ns", "Duration", step->end_ns - step->begin_ns);
}

/* Adds the windows. A summary joins consecutive windows so that at most STEP_ROWS rows remain;
 * details have a row for each window. */
static void add_windows(struct doc *doc, const struct study *study, const struct account_steps *own,
                        uint64_t step_count)
{
    const bool is_summary = !doc_takes(doc, DOC_DETAIL);
    const size_t by = is_summary ? (own->window_count + STEP_ROWS - 1) / STEP_ROWS : 1;
    doc_list_begin(doc, "steps", "Over the run");
    doc_row_begin(doc);
    add_window(doc, study, &own->first, 1, 1);
    doc_row_end(doc);
    for (size_t i = 0; i < own->window_count; i += by) {
        const struct step *highest = &own->windows[i].highest;
        uint64_t last = 1 + (i + by) * own->window_steps;
        for (size_t j = i + 1; j < i + by && j < own->window_count; j++)
            if (own->windows[j].highest.peak_bytes > highest->peak_bytes)
                highest = &own->windows[j].highest;
        if (last > step_count)
            last = step_count;
        doc_row_begin(doc);
        add_window(doc, study, highest, 2 + i * own->window_steps, last);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- steady steps --- */

/* Adds averages over all steps after the first one. */
static void add_steady(struct doc *doc, const struct study *study, int device)
{
    const struct step_watch *watch = &study->steps;
    const int slot = DEVICE_SLOT(device);
    const uint64_t steps = watch->step_count - 1;
    const struct driver_work *last = &watch->begun_work[slot], *first = &watch->first_work[slot];
    const bool knows = steps > 0 && !history_is_imported(&study->history);
    const double per_step = steps ? 1 / (double)steps : 0;
    doc_object_begin(doc, "steady", "Each step after the first, on average");
    doc_known_ratio(doc_detail(doc), "driver_calls_per_step", "Driver calls", knows,
                    (double)(last->calls_count - first->calls_count) * per_step);
    doc_known_ratio(doc_detail(doc), "retries_per_step", "Retries", knows,
                    (double)(last->retries_count - first->retries_count) * per_step);
    if (knows) {
        doc_textf(doc_summary(doc), NULL, "driver calls", "%.1f",
                  (double)(last->calls_count - first->calls_count) * per_step);
        doc_textf(doc_summary(doc), NULL, "retries", "%.1f",
                  (double)(last->retries_count - first->retries_count) * per_step);
    }
    doc_known_bytes(
        doc, "flushed_bytes_per_step", "flushed", knows,
        (uint64_t)((double)(last->flushed_bytes - first->flushed_bytes) * per_step + 0.5));
    doc_known_integer(doc, "driver_ns_per_step", "time in the driver", DOC_NS,
                      watch->timed_count && knows, knows ? (int64_t)(watch->driver_ns / steps) : 0);
    if (!watch->timed_count)
        doc_words(doc, "not known: the trace has no durations of calls");
    doc_object_end(doc);
}

/* --- a device --- */

static int add_steps_of(struct doc *doc, const struct study *study, const struct view *view,
                        uint32_t number, struct err *err)
{
    const struct step_watch *watch = &study->steps;
    struct step_findings found;
    if (step_findings_find(&found, study, number, err))
        return -1;
    page_layer(doc, study, &study->history.accounts[number], "layer");
    doc_count(doc, "step_count", "steps", watch->step_count);
    doc_text(doc, "steps_end_with", "steps end with", step_end_text(watch->kind));
    add_outlier(doc, study, &found.outlier);
    const int status = page_step_begin(doc, study, study->ends.period.phase.name,
                                       study->ends.period.site_id, err) ||
                               add_outlier_sites(doc, study, view, &found, err)
                           ? -1
                           : 0;
    add_ages(doc, &found);
    add_steady(doc, study, study->history.accounts[number].device);
    add_windows(doc, study, step_watch_of(watch, number), watch->step_count);
    step_findings_release(&found);
    return status;
}

static int add_steps(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    const uint32_t number = study_account(study, use, view);
    if (number == HISTORY_NONE || !study->steps.step_count || !step_watch_of(&study->steps, number))
        return 0;
    doc_object_begin(doc, "steps", NULL);
    const int status = add_steps_of(doc, study, view, number, err);
    doc_object_end(doc);
    return status;
}

const struct page page_steps = {.schema = "gpumemtrace.steps/1",
                                .needs =
                                    STUDY_NEEDS_steps | STUDY_NEEDS_growth | STUDY_NEEDS_holders,
                                .answer = page_steps_answer,
                                .device = add_steps,
                                .tail = page_warnings};
