/* SPDX-License-Identifier: MIT */
/*
 * `gpumemtrace compare TRACE MODEL`: measured beside estimated, category by category and phase by
 * phase, for the leading layer of each device.
 */
#include <stdio.h>

#include "analyzer/page/docs.h"
#include "analyzer/command.h"
#include "answer.h"
#include "model_options.h"
#include "analyzer/estimate/compare.h"
#include "analyzer/estimate/estimate_doc.h"
#include "analyzer/render/units.h"

struct compare_view {
    const struct estimate *estimate;
    struct estimate_view estimate_view;
};

static const struct compare_view *compare_view(const struct view *view)
{
    return view->own;
}

/* --- pairs --- */

/* Difference and ratio say how far the measured side is from the estimated one. */
static void add_pair(struct doc *doc, const struct compare_pair *pair, bool people)
{
    bool known = pair->measured_known && pair->estimated_known;
    doc_known_bytes(doc, "measured_bytes", people ? "Measured" : NULL, pair->measured_known,
                    pair->measured_bytes);
    doc_known_bytes(doc, "estimated_bytes", people ? "Estimated" : NULL, pair->estimated_known,
                    pair->estimated_bytes);
    if (known)
        doc_integer(doc, "difference_bytes", people ? "Difference" : NULL, DOC_DELTA,
                    (int64_t)(pair->measured_bytes - pair->estimated_bytes));
    else
        doc_null(doc, "difference_bytes", people ? "Difference" : NULL, DOC_DELTA);
    if (known && pair->estimated_bytes > 0)
        doc_ratio(doc, "ratio", people ? "Measured / estimated" : NULL,
                  (double)pair->measured_bytes / (double)pair->estimated_bytes);
    else
        doc_null(doc, "ratio", people ? "Measured / estimated" : NULL, DOC_RATIO);
}

static void add_row(struct doc *doc, const char *key, const char *label, const char *name,
                    const struct compare_pair *pair, bool people)
{
    bool empty = pair->measured_bytes == 0 && pair->estimated_bytes == 0;
    if (people && empty)
        return;
    doc_row_begin(doc);
    doc_text(doc, key, people ? label : NULL, name);
    add_pair(doc, pair, people);
    doc_row_end(doc);
}

/* --- one device --- */

static void add_peak(struct doc *doc, const struct comparison *comparison,
                     const struct estimate *estimate, bool people)
{
    char text[MOMENT_TEXT_BYTES];
    doc_object_begin(doc, "peak", people ? "Peak" : NULL);
    add_pair(doc, &comparison->live, people);
    doc_text(doc, "measured_phase", people ? "Measured in phase" : NULL,
             comparison->measured_phase);
    doc_text(doc, "estimated_at", people ? "Estimated for" : NULL,
             estimate_moment_text(estimate, &estimate->peak_moment, text));
    doc_object_end(doc);
    doc_object_begin(doc, "reserved",
                     people && comparison->reserved.measured_known
                         ? "Reserved by the framework's allocator"
                         : NULL);
    add_pair(doc, &comparison->reserved, people && comparison->reserved.measured_known);
    doc_object_end(doc);
}

static void add_categories(struct doc *doc, const struct comparison *comparison, bool people)
{
    doc_bool(doc, "buffers_are_parameters", NULL, comparison->buffers_are_parameters);
    doc_list_begin(doc, "categories", people ? "By category, each side at its own peak" : NULL);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        enum category category = (enum category)i;
        bool merged = category == CATEGORY_parameters && comparison->buffers_are_parameters;
        const char *title = merged ? "Parameters and buffers" : category_title(category);
        add_row(doc, "category", "Category", people ? title : category_key(category),
                &comparison->categories[i], people);
    }
    doc_list_end(doc);
}

static void add_phases(struct doc *doc, const struct comparison *comparison, bool people)
{
    doc_list_begin(doc, "phases", people ? "Highest in each phase" : NULL);
    for (int i = 0; i < TAPE_PHASES; i++)
        add_row(doc, "phase", "Phase", tape_phase_name((enum tape_phase)i), &comparison->phases[i],
                people);
    doc_list_end(doc);
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    const struct estimate *estimate = compare_view(view)->estimate;
    uint32_t stock = study_stock(study, use, view);
    struct comparison comparison;
    if (stock == HISTORY_NONE)
        return 0;
    if (compare_stock(&comparison, study, stock, estimate, err))
        return -1;
    docs_layer(doc, study, view, &study->history.stocks[stock]);
    add_peak(doc, &comparison, estimate, view->people);
    add_categories(doc, &comparison, view->people);
    add_phases(doc, &comparison, view->people);
    return 0;
}

/* --- the whole --- */

#define SAME_RATIO 0.0005 /* below it, units_ratio shows 0.0 % */

/* "as estimated", or "12.3 % more". */
static void say_difference(char out[2 * UNITS_TEXT_BYTES], uint64_t measured, uint64_t estimated)
{
    double ratio = estimated ? ((double)measured - (double)estimated) / (double)estimated : 1;
    char share[UNITS_TEXT_BYTES];
    units_ratio(share, ratio < 0 ? -ratio : ratio);
    if (ratio > -SAME_RATIO && ratio < SAME_RATIO)
        snprintf(out, 2 * UNITS_TEXT_BYTES, "as estimated");
    else
        snprintf(out, 2 * UNITS_TEXT_BYTES, "%s %s", share, ratio < 0 ? "less" : "more");
}

static void add_sentence(struct doc *doc, const struct study *study, uint32_t stock,
                         uint64_t estimated_bytes)
{
    const struct stock *measured = &study->history.stocks[stock];
    char name[DOCS_NAME_BYTES], high[UNITS_TEXT_BYTES], expected[UNITS_TEXT_BYTES];
    char difference[2 * UNITS_TEXT_BYTES];
    say_difference(difference, measured->peak_bytes, estimated_bytes);
    doc_note(doc, "Device %d, %s: the peak was %s, estimated %s: %s.", measured->device,
             docs_layer_name(study, measured, name), units_bytes(high, measured->peak_bytes),
             units_bytes(expected, estimated_bytes), difference);
}

static int add_head(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    (void)err;
    for (size_t i = 0; i < study->history.device_count; i++) {
        const struct device_use *use = &study->history.devices[i];
        uint32_t stock = study_stock(study, use, view);
        if (stock != HISTORY_NONE && (view->device < 0 || view->device == use->device))
            add_sentence(doc, study, stock, compare_view(view)->estimate->peak.requested_bytes);
    }
    return 0;
}

static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    const struct compare_view *own = compare_view(view);
    estimate_doc_model(doc, own->estimate);
    estimate_doc_layers(doc, own->estimate, own->estimate_view.all_layers);
    estimate_doc_assumptions(doc, own->estimate, &own->estimate_view);
    return docs_warnings(doc, study, view, err);
}

static int print_comparison(const struct estimate *estimate, const struct command_options *options,
                            const struct model_options *own, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.compare/1",
                                         .head = add_head,
                                         .device = add_device,
                                         .tail = add_tail};
    struct compare_view compared = {estimate, {own->context_bytes, own->layers}};
    struct view view = answer_view(options, &compared);
    struct doc *doc = NULL;
    if (docs_build(&doc, options->format->reads, &answer, &view, options->operands, 1, err))
        return -1;
    int result = command_print(doc, options, err);
    doc_free(doc);
    return result;
}

int command_compare(int argc, char **argv, struct err *err)
{
    return model_command(argc, argv, 1, print_comparison, err);
}
