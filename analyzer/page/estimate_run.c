/* SPDX-License-Identifier: MIT */
/* The step that has the peak, as a table, and the layers that hold memory at the peak; see
 * estimate_run.h. */
#include "estimate_run.h"

#include <stdio.h>

#include "analyzer/analysis/category.h"

enum { SUMMARY_MOMENTS = 24, SUMMARY_SITES = 10, BAR_COLUMNS = 24 };

/* --- the step --- */

static enum category largest_category(const struct estimate_moment *moment)
{
    enum category largest = (enum category)0;
    for (int i = 1; i < CATEGORY_COUNT; i++)
        if (moment->category_bytes[i] > moment->category_bytes[largest])
            largest = (enum category)i;
    return largest;
}

static void add_moment_categories(struct doc *doc, const struct estimate_moment *moment)
{
    doc_object_begin(doc_detail(doc), "categories", NULL);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (moment->category_bytes[i])
            doc_bytes(doc, category_key((enum category)i), category_title((enum category)i),
                      moment->category_bytes[i]);
    doc_object_end(doc);
}

static void add_moment(struct doc *doc, const struct estimate *estimate,
                       const struct run_series *series, size_t number)
{
    const struct run_moment *moment = &series->moments[number];
    const struct estimate_moment *highest = &moment->highest;
    const uint64_t peak_bytes = series->moments[series->peak].highest.total_bytes;
    const enum category most = largest_category(highest);
    const char *at = MOMENT_TEXT(estimate, highest);
    doc_text(doc, "phase", "Phase", schedule_phase_name(highest->phase));
    doc_known_count(doc_detail(doc), "layer", "Layer", highest->layer != SCHEDULE_NO_LAYER,
                    (uint64_t)highest->layer);
    doc_bytes(doc, "live_bytes", "Live", highest->total_bytes);
    doc_bytes(doc_detail(doc), "lowest_bytes", "Lowest", moment->lowest_bytes);
    doc_bar(doc, peak_bytes ? (double)highest->total_bytes / (double)peak_bytes : 0, BAR_COLUMNS);
    doc_text(doc, "most", "Most of it", category_key(most));
    doc_words(doc, "%s", category_title(most));
    doc_text(doc, "at", "Moment", at);
    if (number == series->peak)
        doc_words(doc, "%s: the peak", at);
    add_moment_categories(doc, highest);
}

/* Adds the step. A summary joins consecutive moments and shows the highest of each group, so that
 * it still contains the peak. */
void page_estimate_step(struct doc *doc, const struct estimate *estimate,
                        const struct run_series *series)
{
    const uint64_t step = series->moments[series->peak].step;
    size_t first = series->peak, end = series->peak + 1;
    while (first > 0 && series->moments[first - 1].step == step)
        first--;
    while (end < series->count && series->moments[end].step == step)
        end++;
    const size_t group = (end - first) / SUMMARY_MOMENTS + 1;
    doc_list_begin(doc, "step", "The step of the peak, with the largest category");
    for (size_t i = first; i < end; i += group) {
        size_t shown = i;
        for (size_t k = i; k < end && k < i + group; k++)
            if (series->moments[k].highest.total_bytes > series->moments[shown].highest.total_bytes)
                shown = k;
        for (size_t k = i; k < end && k < i + group; k++) {
            doc_row_begin(doc_detail_if(doc, k != shown));
            add_moment(doc, estimate, series, k);
            doc_row_end(doc);
        }
    }
    doc_list_end(doc);
}

/* --- the sites --- */

static void add_site(struct doc *doc, const struct estimate *estimate, const struct run_site *site)
{
    const bool is_layer = site->layer != SCHEDULE_NO_LAYER;
    const struct layer *layer = is_layer ? &estimate->model->layers[site->layer] : NULL;
    const uint64_t peak_bytes = estimate->peak_moment.total_bytes;
    const double share = peak_bytes ? (double)site->peak_bytes / (double)peak_bytes : 0;
    doc_bytes(doc, "bytes", "Bytes", site->peak_bytes);
    doc_ratio(doc, "share_ratio", "Share", share);
    doc_known_count(doc_detail(doc), "layer", "Layer", is_layer,
                    is_layer ? (uint64_t)site->layer : 0);
    doc_text(doc_detail(doc), "phase", "Phase", is_layer ? NULL : schedule_phase_name(site->phase));
    if (is_layer)
        doc_textf(doc, "name", "Layer", "%zu %s%s%s", layer->index, layer->kind->name,
                  layer->name[0] ? " " : "", layer->name);
    else
        doc_textf(doc, "name", "Layer", "(%s)", schedule_phase_name(site->phase));
}

void page_estimate_sites(struct doc *doc, const struct estimate *estimate,
                         const struct run_series *series)
{
    doc_list_begin(doc, "layers_at_peak", "Bytes at the peak, by layer");
    for (size_t i = 0; i < series->site_count && series->sites[i].peak_bytes; i++) {
        doc_row_begin(doc_detail_if(doc, i >= SUMMARY_SITES));
        add_site(doc, estimate, &series->sites[i]);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}
