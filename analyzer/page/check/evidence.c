/* SPDX-License-Identifier: MIT */
/* The evidence of a broken limit; see evidence.h. */
#include "evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/analysis/study_open.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/analysis/leaks.h"
#include "analyzer/page/compare/departures.h"
#include "analyzer/page/diff/how.h"
#include "analyzer/page/diff/rows.h"
#include "analyzer/page/diff/tree.h"
#include "analyzer/page/parts.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"

static bool is_kind(const struct check_result *result, const char *kind)
{
    return !strcmp(result->kind, kind);
}

bool evidence_is_change(const struct check_result *result)
{
    return is_kind(result, "baseline");
}

/* --- the line to blame --- */

/* Returns the path as the repository has it: relative to the build's folder, or to the current
 * folder. */
static const char *path_below(const char *path, const char *folder)
{
    const size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(path, folder, length) && path[length] == '/' ? path + length + 1
                                                                           : path;
}

static int blame_place(struct check_result *result, const char *label, const char *file,
                       uint32_t line, struct err *err)
{
    char *folder = getcwd(NULL, 0);
    const char *path = file;
    if (file) {
        path = path_below(file, getenv("GITHUB_WORKSPACE"));
        path = path == file ? path_below(file, folder) : path;
    }
    result->label = strdup(label);
    result->file = path ? strdup(path) : NULL;
    result->line = line;
    free(folder);
    if (result->label && (result->file || !path))
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the evidence");
}

static int blame_line(struct check_result *result, const struct blamed *blamed, struct err *err)
{
    const struct symbol_frame *frame = &blamed->site.frame;
    const bool has_line = blamed->site.is_of_program && frame->file;
    return blame_place(result, blamed->label, has_line ? frame->file : NULL,
                       has_line ? frame->line : 0, err);
}

static int blame_stack(struct check_result *result, const struct study *study, uint32_t stack_id,
                       struct err *err)
{
    struct blame blame;
    if (blame_sites(&blame, study->symbols, &(const uint64_t){stack_id}, 1, err))
        return -1;
    const int status = blame_line(result, &blame.items[0], err);
    blame_release(&blame);
    return status;
}

/* --- the baseline --- */

uint64_t check_base_bytes(const struct check_base *base, const struct study *study,
                          uint32_t account)
{
    if (base->kept) {
        const struct baseline_account *kept = baseline_find(base->kept, study, account);
        return kept ? kept->bytes : 0;
    }
    const uint32_t other = study_counterpart(base->study, study, account);
    return other == HISTORY_NONE ? 0 : base->study->history.accounts[other].peak_bytes;
}

static int find_change(struct run_diff *change, const struct check_base *base,
                       const struct study *study, uint32_t account, struct err *err)
{
    const struct run_diff_side after = {
        .study = study, .account = account, .at = study->history.accounts[account].peak};
    struct run_diff_side before = {0};
    if (base->kept) {
        before.kept = baseline_find(base->kept, study, account);
    } else if (base->study) {
        const uint32_t other = study_counterpart(base->study, study, account);

        if (other != HISTORY_NONE)
            before = (struct run_diff_side){.study = base->study,
                                            .account = other,
                                            .at = base->study->history.accounts[other].peak};
    }
    return run_diff_of_peaks(change, &before, &after, err);
}

static int blame_row(struct check_result *result, const struct run_diff *change, struct err *err)
{
    const struct diff_row *row = run_diff_guilty(change);
    char path[2 * LIMIT_text_bytes];
    if (!row)
        return 0;
    const struct call_line *call_line = &change->difference.nodes[row->node].call_line;
    const char *file = row->node ? change->names.texts[call_line->file] : "";
    snprintf(path, sizeof path, "%s%s", *file == '/' ? "" : change->sides[1].folder, file);
    return blame_place(result, row->label, *file ? path : NULL, row->node ? call_line->line : 0,
                       err);
}

/* Suggests `diff` only if the baseline is a trace, because a baseline file holds no more than this
 * page shows. */
static void go_on_to_diff(struct opening *opening, const struct study *base)
{
    struct text words;
    text_init(&words, 2 * LIMIT_text_bytes);
    text_add(&words, "diff ");
    text_add_word(&words, base->trace.path);
    if (!text_failed(&words) && strlen(words.data) < OPENING_NEXT_BYTES)
        page_next(opening, "%s", words.data);
    text_release(&words);
}

static int say_change(struct opening *opening, struct check_result *result,
                      const struct check_base *base, const struct run_diff *change, struct err *err)
{
    char guilty[PAGE_MORE_BYTES];
    if (blame_row(result, change, err))
        return -1;
    if (base->study)
        go_on_to_diff(opening, base->study);
    if (!*page_diff_guilty(change, guilty))
        return 1;
    page_say(opening, VERDICT_who, "The largest growth since the baseline is at %s.", guilty);
    page_diff_moved(opening, change);
    return page_diff_how(opening, change, err) ? -1 : 1;
}

static int say_another_model(struct opening *opening, const struct check_result *result,
                             const struct estimate *estimate, const struct study *study,
                             struct err *err)
{
    struct comparison comparison;
    if (compare_account(&comparison, study, result->account, estimate, COMPARE_CONTEXT_UNKNOWN,
                        err))
        return -1;
    return page_another_say(opening, study, result->account, &comparison, estimate, err);
}

int evidence_note(struct opening *opening, const struct check_result *result,
                  const struct check_base *base, const struct study *study, struct err *err)
{
    char guilty[PAGE_MORE_BYTES];
    struct run_diff change;
    int status = 1;
    if (is_kind(result, "estimate"))
        return say_another_model(opening, result, base->estimate, study, err);
    if (!evidence_is_change(result))
        return 1;
    const uint64_t base_bytes = check_base_bytes(base, study, result->account);
    if (result->measured_bytes <= base_bytes + base_bytes / 1000)
        return 1;
    if (find_change(&change, base, study, result->account, err))
        return -1;
    if (*page_diff_guilty(&change, guilty))
        status = page_say(opening, VERDICT_who, "Within the tolerance, %s.", guilty);
    run_diff_release(&change);
    return status;
}

/* --- sites at the moment that the limit is about --- */

struct held_then {
    /* the trace, read once more, because only a broken limit needs the phase's moment */
    struct study again;
    const struct study *study;
    struct sites sites;
};

static int open_again(struct held_then *held, const struct check_result *result,
                      const struct study *study, const struct view *view, struct err *err)
{
    char at[LIMIT_phase_path_bytes + sizeof "phase:"];
    const struct study_ask ask = {.at = at, .takes_library_ranges = view->takes_library_ranges};
    snprintf(at, sizeof at, "phase:%.*s", (int)result->limit->phase_length, result->limit->phase);
    if (study_open_again(&held->again, study, &ask, err))
        return -1;
    held->study = &held->again;
    return held->again.is_again ? 0 : symbols_set_sources(held->again.symbols, &view->sources, err);
}

static int held_then_find(struct held_then *held, const struct check_result *result,
                          const struct study *study, const struct view *view, struct err *err)
{
    const struct account *account = &study->history.accounts[result->account];
    *held = (struct held_then){.study = study};
    if (result->is_of_phase && open_again(held, result, study, view, err))
        return -1;
    const uint64_t index = is_kind(result, "leak") ? study->history.last.index
                           : result->is_of_phase
                               ? held->again.history.accounts[result->account].asked.index
                               : account->peak.index;
    return index == INDEX_NONE
               ? 0
               : sites_at(&held->sites, &held->study->categories, result->account, index, err);
}

static void held_then_release(struct held_then *held)
{
    sites_release(&held->sites);
    study_release(&held->again);
}

static int say_most(struct opening *opening, struct check_result *result,
                    const struct held_then *held, struct err *err)
{
    struct site_row *rows = NULL;
    struct blame blame;
    int status = 1;
    if (!held->sites.count)
        return 1;
    if (site_rows_blame(&blame, held->study->symbols, &held->sites, err))
        return -1;
    if (site_rows_of(&rows, &held->study->history, &held->sites, &blame, err) < 0)
        status = -1;
    else if (rows[0].blamed->is_known)
        status = blame_line(result, rows[0].blamed, err)
                     ? -1
                     : page_say(opening, VERDICT_who, "Most of the memory %s is held by %s (%s).",
                                is_kind(result, "leak") ? "live at the exit"
                                : result->is_of_phase   ? "live at the phase's peak"
                                                        : "live at the peak",
                                rows[0].blamed->label, BYTES_TEXT(rows[0].bytes));
    free(rows);
    blame_release(&blame);
    return status;
}

/* --- growth, retries, failures --- */

static int say_growth(struct opening *opening, struct check_result *result,
                      const struct study *study, struct err *err)
{
    struct account_leak found;
    int status = 1;
    if (account_leak_find(&found, study, result->account, err))
        return -1;
    for (size_t i = 0; i < found.growing.count && !result->label && status > 0; i++) {
        const struct leak_row *row = &found.growing.items[i];

        if (row->cache || row->is_left_out)
            continue;
        status = blame_line(result, row->blamed, err)
                     ? -1
                     : page_say(opening, VERDICT_who, "Largest growth: %s, %s each step.",
                                row->blamed->label, BYTES_TEXT((uint64_t)(row->slope + 0.5)));
    }
    account_leak_release(&found);
    return status;
}

static uint32_t stack_of_first(const struct check_result *result, const struct history *history)
{
    const struct retry_site *most = NULL;
    for (size_t i = 0; is_kind(result, "retries") && i < history->retry_count; i++)
        if (history->retries[i].device == result->device &&
            (!most || history->retries[i].retries_count > most->retries_count))
            most = &history->retries[i];
    if (most)
        return most->stack_id;
    return history->failure_count ? history->failures[history->failure_count - 1].event.stack_id
                                  : 0;
}

static int say_stack(struct opening *opening, struct check_result *result,
                     const struct study *study, struct err *err)
{
    const bool are_retries = is_kind(result, "retries");
    const uint32_t stack_id = stack_of_first(result, &study->history);
    if (!stack_id)
        return are_retries ? 1 : page_say(opening, VERDICT_do, "--allow-oom accepts failures.");
    if (blame_stack(result, study, stack_id, err))
        return -1;
    if (are_retries)
        return page_say(opening, VERDICT_who, "Most retries were at %s.", result->label);
    page_say(opening, VERDICT_who, "The last failure was at %s.", result->label);
    page_say(opening, VERDICT_do, "--allow-oom accepts failures.");
    return study->history.failures_in_all > study->history.failure_count
               ? page_say(opening, VERDICT_do,
                          "'gpumemtrace oom' lists the first and the last %d failures.",
                          FAILURES_AT_EACH_END)
               : 1;
}

/* --- the estimate --- */

static int told_line(void *told, const struct blamed *line, struct err *err)
{
    return blame_line(told, line, err);
}

static int say_departure(struct opening *opening, struct check_result *result,
                         const struct estimate *estimate, const struct study *study,
                         struct err *err)
{
    struct comparison comparison;
    if (say_another_model(opening, result, estimate, study, err) < 0 ||
        compare_account(&comparison, study, result->account, estimate, COMPARE_CONTEXT_UNKNOWN,
                        err))
        return -1;
    return page_departure_say(opening, study, result->account, &comparison, estimate, told_line,
                              result, err);
}

int evidence_say(struct opening *opening, struct check_result *result,
                 const struct check_base *base, const struct study *study, const struct view *view,
                 struct err *err)
{
    if (is_kind(result, "fragmentation"))
        return 1;
    if (is_kind(result, "growth"))
        return say_growth(opening, result, study, err);
    if (is_kind(result, "retries") || is_kind(result, "failures"))
        return say_stack(opening, result, study, err);
    if (is_kind(result, "estimate"))
        return say_departure(opening, result, base->estimate, study, err);
    if (is_kind(result, "baseline")) {
        struct run_diff change;

        if (find_change(&change, base, study, result->account, err))
            return -1;
        const int status = say_change(opening, result, base, &change, err);
        run_diff_release(&change);
        return status;
    }
    struct held_then held;
    const int status = held_then_find(&held, result, study, view, err)
                           ? -1
                           : say_most(opening, result, &held, err);
    held_then_release(&held);
    return status;
}

/* --- the tables --- */

static int add_held_sites(struct doc *doc, const struct check_result *result,
                          const struct study *study, const struct view *view, struct err *err)
{
    const struct page_site_list list = {
        .key = "sites", .heading = result->subject, .summary_rows = PAGE_SITES, .frame_lines = 3};
    struct held_then held;
    const int status = held_then_find(&held, result, study, view, err)
                           ? -1
                           : page_sites_found(doc, held.study, view, result->account, &held.sites,
                                              NULL, &list, err);
    held_then_release(&held);
    return status;
}

static int add_change(struct doc *doc, const struct check_result *result,
                      const struct check_base *base, const struct study *study,
                      const struct view *view, struct err *err)
{
    struct run_diff change;
    if (result->passed && !doc_takes(doc, DOC_SERIES))
        return 0;
    if (find_change(&change, base, study, result->account, err))
        return -1;
    page_diff_rows(result->passed ? doc_series(doc) : doc, &change, view, "grown",
                   "Lines that grew since the baseline", true);
    page_diff_tree(doc, &change, study, result->account);
    run_diff_release(&change);
    return 0;
}

int evidence_add(struct doc *doc, const struct check_result *result, const struct check_base *base,
                 const struct study *study, const struct view *view, struct err *err)
{
    const struct device_use *use = history_device(&study->history, result->device);
    if (is_kind(result, "baseline"))
        return add_change(doc, result, base, study, view, err);
    if (is_kind(result, "fragmentation"))
        return page_fragmentation(doc, study, use, view, err);
    if (is_kind(result, "growth"))
        return page_growth(doc, study, use, view, err);
    if (is_kind(result, "peak") || is_kind(result, "leak") || is_kind(result, "estimate"))
        return add_held_sites(doc, result, study, view, err);
    return 0;
}
