/* SPDX-License-Identifier: MIT */
/* The page of `compare`; see compare.h. */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/page/parts.h"
#include "departures.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

static const struct page_compare_options *options_of(const struct view *view)
{
    return view->own;
}

/* --- the sentence --- */

#define DIFFERENCE_BYTES (2 * UNITS_TEXT_BYTES)

/* Writes "as estimated" or, for example, "12.3 % more". */
static const char *difference_text(char out[DIFFERENCE_BYTES], uint64_t measured,
                                   uint64_t estimated)
{
    const double ratio = estimated ? ((double)measured - (double)estimated) / (double)estimated : 1;
    if (ratio > -SAME_RATIO && ratio < SAME_RATIO)
        snprintf(out, DIFFERENCE_BYTES, "as estimated");
    else
        snprintf(out, DIFFERENCE_BYTES, "%s %s", RATIO_TEXT(ratio < 0 ? -ratio : ratio),
                 ratio < 0 ? "less" : "more");
    return out;
}

static void say_compared(struct opening *opening, const struct study *study,
                         const struct account *account, uint64_t estimated_bytes)
{
    char difference[DIFFERENCE_BYTES];
    page_say(opening, VERDICT_what, "Device %d, %s: the peak was %s, estimated %s: %s.",
             account->device, LAYER_TEXT(study, account), BYTES_TEXT(account->peak_bytes),
             BYTES_TEXT(estimated_bytes),
             difference_text(difference, account->peak_bytes, estimated_bytes));
}

static int say_account(struct opening *opening, const struct study *study, uint32_t number,
                       const struct page_compare_options *options, struct err *err)
{
    const struct account *account = &study->history.accounts[number];
    const struct estimate *estimate = options->estimate;
    struct comparison comparison;
    if (compare_account(&comparison, study, number, estimate, options->estimate_view.context_bytes,
                        err) ||
        page_another_say(opening, study, number, &comparison, estimate, err) < 0)
        return -1;
    say_compared(opening, study, account, estimate->peak.requested_bytes);
    return page_departure_say(opening, study, number, &comparison, estimate, NULL, NULL, err);
}

static int answer_compare(struct opening *opening, const struct study *study,
                          const struct view *view, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < study->history.device_count && status >= 0; i++) {
        const struct device_use *use = &study->history.devices[i];
        const uint32_t account = study_account(study, use, view);
        if (account != HISTORY_NONE && (view->device < 0 || view->device == use->device))
            status = say_account(opening, study, account, options_of(view), err);
    }
    return status;
}

/* --- pairs --- */

/* Adds a pair with its difference and ratio, which say how far the measured value is from the
 * estimated one. */
static void add_pair(struct doc *doc, const struct compare_pair *pair)
{
    const bool known = pair->measured_known && pair->estimated_known;
    const bool has_ratio = known && pair->estimated_bytes > 0;
    doc_known_bytes(doc, "measured_bytes", "Measured", pair->measured_known, pair->measured_bytes);
    doc_known_bytes(doc, "estimated_bytes", "Estimated", pair->estimated_known,
                    pair->estimated_bytes);
    doc_known_integer(doc, "difference_bytes", "Difference", DOC_DELTA, known,
                      (int64_t)(pair->measured_bytes - pair->estimated_bytes));
    doc_known_ratio(doc, "ratio", "Measured / estimated", has_ratio,
                    has_ratio ? (double)pair->measured_bytes / (double)pair->estimated_bytes : 0);
}

static void pair_row_begin(struct doc *doc, const struct compare_pair *pair)
{
    doc_row_begin(doc_detail_if(doc, !pair->measured_bytes && !pair->estimated_bytes));
}

static void pair_row_end(struct doc *doc, const struct compare_pair *pair)
{
    add_pair(doc, pair);
    doc_row_end(doc);
}

/* --- one device --- */

static void add_compared_peaks(struct doc *doc, const struct comparison *comparison,
                               const struct estimate *estimate)
{
    doc_object_begin(doc, "peak", "Peak");
    add_pair(doc, &comparison->live);
    doc_text(doc, "measured_phase", "Measured in phase", comparison->measured_phase);
    doc_text(doc, "estimated_at", "Estimated for", MOMENT_TEXT(estimate, &estimate->peak_moment));
    doc_object_end(doc);
    doc_object_begin(doc_detail_if(doc, !comparison->reserved.measured_known), "reserved",
                     "Reserved by the framework's allocator");
    add_pair(doc, &comparison->reserved);
    doc_object_end(doc);
}

/* Adds memory of the card that is not live and therefore has no category. */
static void add_beyond(struct doc *doc, const struct comparison *comparison)
{
    const struct {
        const char *name, *title;
        const struct compare_pair *pair;
    } rows[] = {{"segments", "Free in the framework's segments", &comparison->segments},
                {"context", "Context, modules, other processes", &comparison->context}};
    doc_list_begin(doc, "beyond", "Beyond live memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pair_row_begin(doc, rows[i].pair);
        doc_text(doc, "name", "Name", rows[i].name);
        doc_words(doc, "%s", rows[i].title);
        pair_row_end(doc, rows[i].pair);
    }
    doc_list_end(doc);
}

static void add_compared_categories(struct doc *doc, const struct comparison *comparison)
{
    doc_bool(doc_detail(doc), "buffers_are_parameters", "Buffers are parameters",
             comparison->buffers_are_parameters);
    doc_list_begin(doc, "categories", "By category, each side at its own peak");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const enum category category = (enum category)i;
        const bool merged = category == CATEGORY_parameters && comparison->buffers_are_parameters;
        pair_row_begin(doc, &comparison->categories[i]);
        doc_text(doc, "category", "Category", category_key(category));
        doc_words(doc, "%s", merged ? "Parameters and buffers" : category_title(category));
        pair_row_end(doc, &comparison->categories[i]);
    }
    doc_list_end(doc);
}

static void add_compared_phases(struct doc *doc, const struct comparison *comparison)
{
    doc_list_begin(doc, "phases", "Highest in each phase");
    for (int i = 0; i < SCHEDULE_PHASES; i++) {
        pair_row_begin(doc, &comparison->phases[i]);
        doc_text(doc, "phase", "Phase", schedule_phase_name((enum schedule_phase)i));
        pair_row_end(doc, &comparison->phases[i]);
    }
    doc_list_end(doc);
}

static int add_compared_device(struct doc *doc, const struct study *study,
                               const struct device_use *use, const struct view *view,
                               struct err *err)
{
    const struct estimate *estimate = options_of(view)->estimate;
    const uint32_t account = study_account(study, use, view);
    struct comparison comparison;
    if (account == HISTORY_NONE)
        return 0;
    if (compare_account(&comparison, study, account, estimate,
                        options_of(view)->estimate_view.context_bytes, err))
        return -1;
    page_layer(doc, study, &study->history.accounts[account], "Layer");
    add_compared_peaks(doc, &comparison, estimate);
    page_departures(doc, &comparison);
    add_compared_categories(doc, &comparison);
    add_compared_phases(doc, &comparison);
    add_beyond(doc, &comparison);
    return 0;
}

static int add_compare_tail(struct doc *doc, const struct study *study, const struct view *view,
                            struct err *err)
{
    const struct page_compare_options *options = options_of(view);
    page_estimate_model(doc, options->estimate);
    page_estimate_layers(doc_detail_if(doc, !options->estimate_view.all_layers), options->estimate);
    page_estimate_assumptions(doc, options->estimate, &options->estimate_view);
    return page_series(doc, study, view, err) ? -1 : page_warnings(doc, study, view, err);
}

const struct page page_compare = {.schema = "gpumemtrace.compare/1",
                                  .needs = STUDY_NEEDS_phases,
                                  .ask = page_series_ask,
                                  .answer = answer_compare,
                                  .device = add_compared_device,
                                  .tail = add_compare_tail};
