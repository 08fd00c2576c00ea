/* SPDX-License-Identifier: MIT */
/* The page of `phases`, and its part: shows what each phase cost. */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analysis/phases.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"

/* Says how the rows of one account are shown. */
struct phase_list {
    struct phase_rows rows;
    const struct account *account;
    uint64_t card_bytes; /* 0: not known */
    bool as_tree;        /* indent a name below the phase around it */
    bool has_steps;      /* a summary also has the bytes that each step allocates */
    size_t most;         /* rows of a summary: the phases that allocated most */
    bool has_sums;       /* a row that is shown allocated more in sum than the card has */
};

static int depth_of(const struct history *history, uint32_t path)
{
    int depth = 0;
    while (depth < SPAN_DEPTH_MAX && (path = history->paths[path].parent) != HISTORY_NONE)
        depth++;
    return depth;
}

static void add_phase_name(struct doc *doc, const struct study *study, uint32_t number,
                           bool as_tree)
{
    const struct history *history = &study->history;
    const char *path = study_path(study, number);
    doc_text(doc_detail(doc), "name", "Name", path ? history->paths[number].name : NULL);
    doc_text(doc, "path", "Phase", path);
    if (path && as_tree && *history->paths[number].name)
        doc_words(doc, "%*s%s", 2 * depth_of(history, number), "", history->paths[number].name);
    else
        doc_words(doc, "%s", path ? path : PAGE_OUTSIDE);
    doc_text(doc_detail(doc), "source", "Source", phase_source_name(history, number));
}

static double largest_error_ratio(const struct phase_row *row)
{
    double largest = spread_error_ratio(&row->per_step);
    for (int i = 0; i < PHASE_FIGURES; i++)
        if (spread_error_ratio(&row->each[i]) > largest)
            largest = spread_error_ratio(&row->each[i]);
    return largest;
}

/* Adds the figures of one training step. They cover the phase's occurrences in this step. */
static void add_per_step(struct doc *doc, const struct spread *per_step, bool is_shown)
{
    const bool known = per_step->count > 0;
    doc_known_count(doc_detail(doc), "steps", "Steps", known, per_step->count);
    doc_known_bytes(doc_spare(doc_detail_if(doc, !is_shown)), "allocated_per_step_median_bytes",
                    "Per step", known, spread_median(per_step));
    doc_known_bytes(doc_detail(doc), "allocated_per_step_highest_bytes", "At most", known,
                    per_step->highest);
    doc_known_bytes(doc_detail(doc), "allocated_per_step_last_bytes", "Last", known,
                    per_step->last);
}

/* Adds the figures of one occurrence. */
static void add_each(struct doc *doc, const struct phase_row *row, bool has_steps)
{
    const struct spread *peak = &row->each[PHASE_PEAK], *kept = &row->each[PHASE_KEPT];
    const struct spread *allocated = &row->each[PHASE_ALLOCATED];
    const bool known = row->path != HISTORY_NONE;
    doc_known_bytes(doc_detail(doc), "peak_median_bytes", "Median peak", known,
                    spread_median(peak));
    doc_known_bytes(doc_detail(doc), "peak_last_bytes", "Last peak", known, peak->last);
    doc_known_count(doc_detail(doc), "peak_occurrence", "Highest in", known, row->peak_occurrence);
    doc_known_bytes(doc, "allocated_median_bytes", "Allocates", known, spread_median(allocated));
    doc_known_bytes(doc_spare(doc), "allocated_highest_bytes", "At most", known,
                    allocated->highest);
    doc_known_bytes(doc_spare(doc), "allocated_last_bytes", "Last", known, allocated->last);
    doc_known_bytes(doc_detail(doc), "kept_median_bytes", "Median kept", known,
                    spread_median(kept));
    doc_known_bytes(doc_detail(doc), "kept_highest_bytes", "Most kept", known, kept->highest);
    doc_known_bytes(doc_detail(doc), "kept_last_bytes", "Last kept", known, kept->last);
    add_per_step(doc, &row->per_step, has_steps);
    doc_known_ratio(doc_detail(doc), "median_error_ratio", "Medians may be low by", known,
                    largest_error_ratio(row));
}

static void add_phase(struct doc *doc, const struct study *study, const struct phase_list *list,
                      const struct phase_row *row)
{
    page_layer(doc_detail(doc), study, list->account, "Layer");
    add_phase_name(doc, study, row->path, list->as_tree);
    doc_count(doc, "count", "Count", row->count);
    doc_bytes(doc_detail(doc), "entry_bytes", "At entry", row->entry_bytes);
    doc_bytes(doc, "peak_bytes", "Peak", row->peak_bytes);
    add_each(doc, row, list->has_steps);
    doc_bytes(doc, "allocated_bytes", "In all", row->allocated_bytes);
    if (list->card_bytes && row->allocated_bytes > list->card_bytes)
        doc_words(doc, "%s (sum)", BYTES_TEXT(row->allocated_bytes));
    doc_known_bytes(doc_detail(doc), "freed_bytes", "Freed", !study_lacks(study, LACK_frees),
                    row->freed_bytes);
    doc_bytes(doc, "kept_bytes", "Kept", row->kept_bytes);
}

ORDER_BY(compare_allocated_bytes, uint64_t, ORDER(*b, *a));

/* Finds the smallest number of bytes with which a phase is among the `most` phases that allocated
 * most. */
static int find_threshold(const struct phase_rows *phases, size_t most, uint64_t *bytes,
                          struct err *err)
{
    uint64_t *all;
    *bytes = 0;
    if (phases->count <= most)
        return 0;
    all = array_new(phases->count, sizeof *all, err);
    if (!all)
        return -1;
    for (size_t i = 0; i < phases->count; i++)
        all[i] = phases->items[i].allocated_bytes;
    SORT(all, phases->count, compare_allocated_bytes);
    *bytes = all[most - 1];
    free(all);
    return 0;
}

/* True for an inferred phase if all its allocations belong to phases that the program named. */
static bool is_hidden_by_named(const struct study *study, const struct phase_row *row)
{
    return row->path != HISTORY_NONE && !row->allocated_bytes &&
           study->history.paths[row->path].source == PHASE_SOURCE_INFERRED;
}

/* Returns the i-th row in the order in which rows are shown. If there is a tree, rows are nested;
 * memory outside any phase comes last. */
static const struct phase_row *row_at(const struct phase_list *list, const uint32_t *tree, size_t i,
                                      size_t path_count)
{
    return &list->rows.items[tree && i < path_count ? tree[i] : i];
}

/* Adds the rows. A summary has only the leading account, and only the rows that allocated most. */
static int add_rows(struct doc *doc, const struct study *study, struct phase_list *list,
                    bool is_leading, struct err *err)
{
    const size_t path_count = study->history.path_count;
    uint32_t *tree = list->as_tree ? phases_as_tree(&study->history, err) : NULL;
    uint64_t threshold_bytes;
    size_t shown_count = 0, hidden_count = 0;
    if ((list->as_tree && !tree) || find_threshold(&list->rows, list->most, &threshold_bytes, err))
        return -1;
    for (size_t i = 0; i < list->rows.count; i++) {
        const struct phase_row *row = row_at(list, tree, i, path_count);
        const bool is_hidden = is_hidden_by_named(study, row);
        const bool is_shown = is_leading && !is_hidden && shown_count < list->most &&
                              row->allocated_bytes >= threshold_bytes;

        doc_row_begin(doc_detail_if(doc, !is_shown));
        add_phase(doc, study, list, row);
        doc_row_end(doc);
        shown_count += is_shown;
        hidden_count += is_hidden;
        list->has_sums |= is_shown && list->card_bytes && row->allocated_bytes > list->card_bytes;
    }
    free(tree);
    if (is_leading && shown_count + hidden_count < list->rows.count)
        doc_note(doc, "%zu more: see 'gpumemtrace phases'.",
                 list->rows.count - hidden_count - shown_count);
    return 0;
}

static int add_phase_list(struct doc *doc, const struct study *study, const struct device_use *use,
                          const struct view *view, size_t most, struct err *err)
{
    const bool has_phases = study->history.path_count > 0, is_page = most == SIZE_MAX;
    struct phase_list list = {.card_bytes = study_card_bytes(study, use->device),
                              .as_tree = is_page && !doc_takes(doc, DOC_DETAIL),
                              .most = most};
    list.has_steps = list.as_tree && study->phases.ended_count > 0;
    struct page_accounts accounts;

    page_accounts_find(&accounts, doc, study, use, view);
    doc_list_begin(doc_detail_if(doc, !has_phases), "phases", "Phases");
    for (size_t i = 0; i < accounts.count && doc_takes(doc, DOC_BOTH); i++) {
        list.account = &study->history.accounts[accounts.numbers[i]];
        list.rows = phases_of(&study->phases, accounts.numbers[i]);
        if (add_rows(doc, study, &list, i == 0, err))
            return -1;
    }
    if (has_phases && is_page)
        doc_note(doc, "'Allocates' is the median of a phase's occurrences; 'In all' and 'Kept' are "
                      "their sums. All include nested phases.");
    if (list.has_sums)
        doc_note(doc, "A sum may exceed the card, because freed memory is allocated again.");
    doc_list_end(doc);
    return 0;
}

int page_all_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                    const struct view *view, struct err *err)
{
    return add_phase_list(doc, study, use, view, SIZE_MAX, err);
}

int page_main_phases(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    enum { MAIN_PHASES = 15 };

    return add_phase_list(doc, study, use, view, MAIN_PHASES, err);
}

/* --- the answer --- */

/* Says where the peak was: "step/forward, in 37 of its 40 occurrences". */
static void say_where(struct opening *opening, const struct study *study,
                      const struct account *account, const struct phase_row *row)
{
    const char *of_card = OF_CARD_TEXT(study_card_bytes(study, account->device));
    if (row->count > 1)
        page_say(opening, VERDICT_what,
                 "The %s peaked at %s%s in phase %s, in occurrence %" PRIu64 " of %" PRIu64 ".",
                 LAYER_TEXT(study, account), BYTES_TEXT(row->peak_bytes), of_card,
                 study_path(study, row->path), row->peak_occurrence, row->count);
    else
        page_say(opening, VERDICT_what, "The %s peaked at %s%s in phase %s.",
                 LAYER_TEXT(study, account), BYTES_TEXT(row->peak_bytes), of_card,
                 study_path(study, row->path));
}

static void say_each(struct opening *opening, const struct study *study,
                     const struct phase_row *row)
{
    const struct spread *allocated = &row->each[PHASE_ALLOCATED], *kept = &row->each[PHASE_KEPT];
    const bool differs = allocated->highest != spread_median(allocated);
    page_say(opening, VERDICT_why, "%s %s allocates %s%s%s%s and keeps %s.",
             row->count > 1 ? "Each" : "Phase", study_path(study, row->path),
             BYTES_TEXT(spread_median(allocated)), differs ? " (median; " : "",
             differs ? BYTES_TEXT(allocated->highest) : "", differs ? " at most)" : "",
             BYTES_TEXT(spread_median(kept)));
}

static void say_device(struct opening *opening, const struct study *study,
                       const struct device_use *use, const struct view *view)
{
    const uint32_t number = study_account(study, use, view);
    const struct account *account =
        number == HISTORY_NONE ? NULL : &study->history.accounts[number];
    if (!account || account->peak.index == INDEX_NONE)
        return;
    if (account->peak_path == HISTORY_NONE) {
        page_say(opening, VERDICT_what, "The %s peaked at %s, outside any phase.",
                 LAYER_TEXT(study, account), BYTES_TEXT(account->peak_bytes));
        return;
    }
    const struct phase_rows rows = phases_of(&study->phases, number);
    const struct phase_row *row = &rows.items[account->peak_path];
    say_where(opening, study, account, row);
    say_each(opening, study, row);
}

static int answer_phases(struct opening *opening, const struct study *study,
                         const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    (void)err;
    if (!history->path_count) {
        page_say(opening, VERDICT_what, "The program named no phases.");
        return page_say(opening, VERDICT_do,
                        "Name them with NVTX ranges (torch.cuda.nvtx.range_push) or "
                        "gpumemtrace_push.");
    }
    for (size_t i = 0; i < history->device_count; i++)
        if (view->device < 0 || view->device == history->devices[i].device)
            say_device(opening, study, &history->devices[i], view);
    page_next(opening, "peak");
    return 1;
}

/* Says how many ranges of libraries the page left out. */
static int add_phases_tail(struct doc *doc, const struct study *study, const struct view *view,
                           struct err *err)
{
    const uint64_t left_out_count = study->history.library_ranges_count;
    doc_count(doc_detail(doc), "library_ranges", "Ranges of libraries", left_out_count);
    if (left_out_count)
        doc_note(doc,
                 "%" PRIu64
                 " NVTX range%s of a library's own domain %s no phase; --nvtx=all shows %s.",
                 left_out_count, left_out_count == 1 ? "" : "s", left_out_count == 1 ? "is" : "are",
                 left_out_count == 1 ? "it" : "them");
    return page_warnings(doc, study, view, err);
}

const struct page page_phases = {.schema = "gpumemtrace.phases/1",
                                 .needs = STUDY_NEEDS_phases,
                                 .answer = answer_phases,
                                 .device = page_all_phases,
                                 .tail = add_phases_tail};
