/* SPDX-License-Identifier: MIT */
/* The page of `diff`: what changed between two moments; see diff.h. */
#include "diff.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/page/parts.h"
#include "analyzer/reading/reading.h"
#include "analyzer/render/units.h"
#include "how.h"
#include "rows.h"
#include "tree.h"
#include "analyzer/thresholds/thresholds.h"

static const struct page_diff_options *diff_options(const struct view *view)
{
    return view->own;
}

/* --- the moments --- */

static int find_side(struct run_diff_side *side, const struct study *study, uint32_t account,
                     const char *at, struct err *err)
{
    struct moment moment = {.index = INDEX_NONE};
    if (account != HISTORY_NONE && moment_find("at", at, &study->history, account, &moment, err))
        return -1;
    *side = (struct run_diff_side){
        .study = account == HISTORY_NONE ? NULL : study, .account = account, .at = moment};
    return 0;
}

static int find_change(struct run_diff *change, const struct study *study, const struct view *view,
                       uint32_t account, struct err *err)
{
    const struct page_diff_options *own = diff_options(view);
    const uint32_t other = study_counterpart(own->before, study, account);
    const bool are_peaks = !own->at[0] && !own->at[1];
    struct run_diff_side before, after;
    if (find_side(&before, own->before, other, own->at[0], err) ||
        find_side(&after, study, account, own->at[1], err))
        return -1;
    before.sources = after.sources = &view->sources;
    return (are_peaks ? run_diff_of_peaks : run_diff_find)(change, &before, &after, err);
}

/* --- the answer --- */

static const char *moment_name(const char *at)
{
    return at ? at : "peak";
}

enum { LINES_BYTES = 2 * PAGE_MORE_BYTES + 2 };
/* Names lines. If the peak grew, names lines that hold more; if it fell, names lines that hold
 * less; if it stayed, names both. */
static void name_lines(char lines[LINES_BYTES], const struct run_diff *change)
{
    const uint64_t *bytes = change->difference.bytes;
    char grown[PAGE_MORE_BYTES], shrunk[PAGE_MORE_BYTES];
    page_diff_guilty(change, grown);
    page_diff_shrunk(change, shrunk);
    if (bytes[1] > bytes[0] || !*shrunk)
        snprintf(lines, LINES_BYTES, "%s", grown);
    else if (bytes[1] < bytes[0] || !*grown)
        snprintf(lines, LINES_BYTES, "%s", shrunk);
    else
        snprintf(lines, LINES_BYTES, "%s; %s", grown, shrunk);
}

static bool differ_by_share(uint64_t a, uint64_t b, uint64_t divisor)
{
    return (a > b ? a - b : b - a) > (a < b ? a : b) / divisor;
}

/* Says how the reserved memory changed, if the peaks of the live bytes do not show it. Returns true
 * if it grew. */
static bool say_reserved(struct opening *opening, const struct study *study,
                         const struct view *view, uint32_t account)
{
    const struct page_diff_options *own = diff_options(view);
    const uint32_t other = study_counterpart(own->before, study, account);
    uint64_t bytes[2];
    if (own->at[0] || own->at[1] || other == HISTORY_NONE)
        return false;
    const struct account *earlier = &own->before->history.accounts[other];
    const struct account *later = &study->history.accounts[account];
    if (differ_by_share(earlier->peak_bytes, later->peak_bytes, SAME_PEAK_DIVISOR) ||
        !frag_peak_reserved(earlier, &bytes[0]) || !frag_peak_reserved(later, &bytes[1]) ||
        !differ_by_share(bytes[0], bytes[1], EXCESS_DIVISOR))
        return false;
    page_say(opening, VERDICT_why,
             "Reserved memory %s, not live memory: its peak went from %s to %s.",
             bytes[1] > bytes[0] ? "grew" : "fell", BYTES_TEXT(bytes[0]), BYTES_TEXT(bytes[1]));
    return bytes[1] > bytes[0];
}

/* Says how much the peak changed, and what changed it. Returns 1 if reserved memory grew although
 * live memory did not. */
static int say_change(struct opening *opening, const struct study *study, const struct view *view,
                      uint32_t account, const struct run_diff *change)
{
    const struct page_diff_options *own = diff_options(view);
    const struct diff_tree *difference = &change->difference;
    const int64_t delta = (int64_t)(difference->bytes[1] - difference->bytes[0]);
    const bool has_moments = own->at[0] || own->at[1];
    const char *subject = has_moments ? "Live memory" : "The peak";
    const struct account *held = &study->history.accounts[account];
    char lines[LINES_BYTES];
    name_lines(lines, change);
    const char *device = DEVICE_TEXT(held->device);
    const char *layer = LAYER_TEXT(study, held);
    const char *after = BYTES_TEXT(difference->bytes[1]);
    if (delta)
        page_say(opening, VERDICT_what, "%s %s by %s, from %s to %s, on %s (%s).", subject,
                 delta > 0 ? "grew" : "fell", BYTES_TEXT((uint64_t)(delta > 0 ? delta : -delta)),
                 BYTES_TEXT(difference->bytes[0]), after, device, layer);
    else
        page_say(opening, VERDICT_what, "%s is the same on %s (%s), %s.", subject, device, layer,
                 after);
    const bool reserves_more = say_reserved(opening, study, view, account);
    if (*lines)
        page_say(opening, VERDICT_who, "%s.", lines);
    if (has_moments)
        page_say(opening, VERDICT_why, "Compared are the moments %.64s and %.64s.",
                 moment_name(own->at[0]), moment_name(own->at[1]));
    if (delta)
        page_diff_moved(opening, change);
    if (has_moments || !delta)
        return reserves_more;
    if (page_diff_how(opening, change, opening->err))
        return -1;
    page_diff_undo(opening, change, own->before, study);
    return reserves_more;
}

static int answer_diff(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct history *history = &study->history;
    bool reserves_more = false;
    for (size_t i = 0; i < history->device_count; i++) {
        const uint32_t account = study_account(study, &history->devices[i], view);
        struct run_diff change;

        if ((view->device >= 0 && history->devices[i].device != view->device) ||
            account == HISTORY_NONE)
            continue;
        if (find_change(&change, study, view, account, err))
            return -1;
        const int status = say_change(opening, study, view, account, &change);
        run_diff_release(&change);
        if (status < 0)
            return -1;
        reserves_more |= status;
    }
    if (!history->device_count)
        return page_say(opening, VERDICT_what, "No device was used.");
    page_next(opening, reserves_more ? "frag" : "peak");
    return 1;
}

/* --- the evidence --- */

static void add_sum(struct doc *doc, const char *key, const char *label, const char *outside,
                    const struct diff_sum *sum)
{
    doc_text(doc, key, label, sum->name);
    if (!sum->name)
        doc_words(doc, "%s", outside);
    page_change(doc, sum->bytes);
    doc_count(doc_detail(doc), "before_count", "Blocks before", sum->counts[0]);
    doc_count(doc_detail(doc), "after_count", "Blocks after", sum->counts[1]);
}

static int add_sums(struct doc *doc, const struct run_diff *change, enum diff_by by,
                    struct err *err)
{
    const bool by_category = by == DIFF_BY_CATEGORY;
    struct diff_sum *sums;
    const int count = diff_tree_sums(&sums, by, &change->sides[0], &change->sides[1], err);
    if (count < 0)
        return -1;
    doc_list_begin(doc, by_category ? "categories" : "phases",
                   by_category ? "By category" : "By phase");
    for (int i = 0; i < count; i++) {
        doc_row_begin(doc);
        add_sum(doc, by_category ? "category" : "phase",
                by_category ? "Category" : "Phase of birth", PAGE_OUTSIDE, &sums[i]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    free(sums);
    return 0;
}

/* Compares each layer at its own moment, so the changes do not add up. */
static int add_layers(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    uint32_t accounts[STUDY_ACCOUNTS_MAX];
    const size_t count = study_accounts(study, use, view, accounts, STUDY_ACCOUNTS_MAX);
    int status = 0;
    doc_list_begin(doc, "layers", "By layer");
    for (size_t i = 0; i < count && !status; i++) {
        struct run_diff change;

        if ((status = find_change(&change, study, view, accounts[i], err)))
            break;
        const uint64_t *bytes = change.difference.bytes;
        struct diff_sum sum = {.bytes = {bytes[0], bytes[1]}};
        for (int side = 0; side < 2; side++)
            for (size_t n = 0; n < change.sides[side].count; n++)
                sum.counts[side] += change.sides[side].items[n].count;
        sum.name = LAYER_TEXT(study, &study->history.accounts[accounts[i]]);
        doc_row_begin(doc);
        add_sum(doc, "layer", "Layer", "", &sum);
        doc_row_end(doc);
        run_diff_release(&change);
    }
    doc_list_end(doc);
    return status;
}

static void add_totals(struct doc *doc, const struct view *view, const struct run_diff *change)
{
    const struct page_diff_options *own = diff_options(view);
    const uint64_t *bytes = change->difference.bytes;
    doc_text(doc_detail(doc), "before_at", "before at", moment_name(own->at[0]));
    doc_text(doc_detail(doc), "after_at", "after at", moment_name(own->at[1]));
    doc_integer(doc, "delta_bytes", "change", DOC_DELTA, (int64_t)(bytes[1] - bytes[0]));
    doc_bytes(doc, "before_bytes", "before", bytes[0]);
    doc_bytes(doc, "after_bytes", "after", bytes[1]);
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    const int by = diff_options(view)->by ? diff_options(view)->by : DIFF_BY_SITE;
    const uint32_t account = study_account(study, use, view);
    static const char *const tables[] = {[DIFF_BY_SITE] = "sites",
                                         [DIFF_BY_CATEGORY] = "categories",
                                         [DIFF_BY_PHASE] = "phases",
                                         [DIFF_BY_LAYER] = "layers"};
    struct run_diff change;
    if (account == HISTORY_NONE)
        return 0;
    if (find_change(&change, study, view, account, err))
        return -1;
    doc_set_table(doc, tables[by]);
    add_totals(doc, view, &change);
    page_diff_rows(by == DIFF_BY_SITE ? doc : doc_detail(doc), &change, view, "sites",
                   "Changes, by the line to blame", false);
    page_diff_tree(doc, &change, study, account);
    int status = add_sums(by == DIFF_BY_PHASE || by == DIFF_BY_LAYER ? doc_detail(doc) : doc,
                          &change, DIFF_BY_CATEGORY, err);
    if (!status)
        status = add_sums(by == DIFF_BY_PHASE ? doc : doc_detail(doc), &change, DIFF_BY_PHASE, err);
    run_diff_release(&change);
    return status ? -1
                  : add_layers(by == DIFF_BY_LAYER ? doc : doc_detail(doc), study, use, view, err);
}

/* Adds the devices that only the earlier trace used. Their memory is in no row. */
static void add_devices_gone(struct doc *doc, const struct study *before, const struct study *study)
{
    const struct history *history = &before->history;
    doc_list_begin(doc, "devices_gone", NULL);
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];

        if (history_device(&study->history, use->device))
            continue;
        doc_row_begin(doc_detail(doc));
        page_device_number(doc, "Device", use->device);
        doc_bytes(doc, "peak_bytes", "Peak", history->accounts[use->leading].peak_bytes);
        doc_row_end(doc);
        doc_note(doc, "%s is no longer used; its peak was %s.", DEVICE_TEXT(use->device),
                 BYTES_TEXT(history->accounts[use->leading].peak_bytes));
    }
    doc_list_end(doc);
}

static int add_before(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct study *before = diff_options(view)->before;
    doc_object_begin(doc, "before", NULL);
    doc_text(doc, "path", "before", before->trace.path);
    doc_text(doc_detail(doc), "command", "program", before->trace.meta.command.value);
    add_devices_gone(doc, before, study);
    doc_object_end(doc);
    return page_series(doc, study, view, err) ? -1 : page_warnings(doc, study, view, err);
}

static void ask_diff(struct study_ask *ask, const struct view *view, const struct doc *doc)
{
    page_series_ask(ask, view, doc);
    ask->at = diff_options(view)->at[1];
}

const struct page page_diff = {.schema = "gpumemtrace.diff/1",
                               .needs = STUDY_NEEDS_births,
                               .ask = ask_diff,
                               .answer = answer_diff,
                               .device = add_device,
                               .tail = add_before};

void page_diff_ask_before(struct reading_ask *ask, const struct view *view)
{
    *ask = (struct reading_ask){.study = {.needs = STUDY_NEEDS_births,
                                          .at = diff_options(view)->at[0],
                                          .takes_library_ranges = view->takes_library_ranges},
                                .sources = view->sources};
}
