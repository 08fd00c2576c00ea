/* SPDX-License-Identifier: MIT */
/*
 * The page of `estimate`: first the answer, then what it is made of, then what it rests on; see
 * estimate.h.
 */
#include "estimate.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/render/units.h"
#include "analyzer/estimate/layer_formulas.h"

static const char *model_name(const struct estimate *estimate)
{
    return estimate->model->name ? estimate->model->name : "the model";
}

/* --- model and settings --- */

static void add_settings(struct doc *doc, const struct settings *settings)
{
    const struct optimizer_kind *optimizer = optimizer_kind(settings->optimizer);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(optimizer->names, ","), optimizer->names);
    doc_object_begin(doc, "settings", NULL);
    doc_text(doc, "mode", "Mode", settings->training ? "training" : "inference");
    doc_count(doc, "batch", "Batch", settings->batch);
    doc_text(doc, "dtype", "Element type", dtype_name(settings->dtype));
    doc_text(doc_detail_if(doc, !settings->training), "optimizer", "Optimizer",
             settings->training ? name : NULL);
    doc_words(doc, "%s", optimizer->text);
    doc_object_end(doc);
}

void page_estimate_model(struct doc *doc, const struct estimate *estimate)
{
    doc_object_begin(doc_detail(doc), "model", "Model");
    doc_text(doc, "name", "Name", estimate->model->name);
    doc_text(doc, "kind", "Kind", estimate->model->kind);
    doc_count(doc, "layers", "Layers", estimate->model->layer_count);
    doc_object_end(doc);
    add_settings(doc, &estimate->plan.settings);
}

/* --- figures --- */

static void add_footprint(struct doc *doc, const struct footprint *footprint)
{
    doc_bytes(doc, "requested_bytes", "Requested", footprint->requested_bytes);
    doc_bytes(doc, "allocated_bytes", "Allocated (rounded by the caching allocator)",
              footprint->allocated_bytes);
    doc_bytes(doc, "reserved_bytes", "Reserved (its segments)", footprint->reserved_bytes);
}

static void add_parameter_totals(struct doc *doc, const struct estimate *estimate)
{
    doc_object_begin(doc, "parameters", NULL);
    doc_count(doc, "count", "Parameters", estimate->parameter_count);
    doc_bytes(doc, "bytes", "Parameter bytes", estimate->parameter_bytes);
    doc_object_end(doc);
    doc_object_begin(doc, "load", "With the model on the device");
    add_footprint(doc, &estimate->load);
    doc_object_end(doc);
}

/* A summary has what is there; a category that is not modelled is null. */
static void add_peak_categories(struct doc *doc, const struct estimate *estimate)
{
    const struct estimate_moment *peak = &estimate->peak_moment;
    doc_object_begin(doc, "categories", "At the peak, by category");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        enum category category = (enum category)i;
        uint64_t bytes = peak->category_bytes[i];
        const bool known = estimate_models(estimate, category);
        doc_known_bytes(doc_detail_if(doc, !known || !bytes), category_key(category),
                        category_title(category), known, bytes);
    }
    doc_object_end(doc);
}

static void add_peak(struct doc *doc, const struct estimate *estimate,
                     const struct estimate_view *view)
{
    const bool context_known = view->context_bytes != ESTIMATE_CONTEXT_UNKNOWN;
    char text[MOMENT_TEXT_BYTES];
    doc_object_begin(doc, "peak", "Peak");
    add_footprint(doc, &estimate->peak);
    doc_known_bytes(doc_detail_if(doc, !context_known), "device_bytes",
                    "On the device, with the context", context_known,
                    estimate->peak.reserved_bytes + view->context_bytes);
    doc_text(doc, "at", "Moment", estimate_moment_text(estimate, &estimate->peak_moment, text));
    doc_object_end(doc);
}

static void add_phase_peaks(struct doc *doc, const struct estimate *estimate)
{
    char text[MOMENT_TEXT_BYTES];
    doc_list_begin(doc, "phases", "Highest in each phase");
    for (int i = 0; i < SCHEDULE_PHASES; i++) {
        const struct estimate_moment *peak = &estimate->phase_peaks[i];
        if (peak->total_bytes == 0)
            continue;
        doc_row_begin(doc);
        doc_text(doc, "name", "Phase", schedule_phase_name((enum schedule_phase)i));
        doc_bytes(doc, "peak_bytes", "Requested", peak->total_bytes);
        doc_text(doc, "at", "Moment", estimate_moment_text(estimate, peak, text));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_rule(struct doc *doc, const struct estimate *estimate)
{
    doc_bytes(doc, "rule_of_thumb_bytes", "Rule of thumb, for comparison",
              estimate->rule_of_thumb_bytes);
    doc_count(doc_detail(doc), "forward_values", "Values of a forward pass",
              estimate->input_values + estimate->result_values);
    doc_known_bytes(doc_detail(doc), "kept_for_backward_bytes", "Kept for backward",
                    estimate->plan.settings.training, estimate_kept_bytes(estimate));
}

/* --- layers --- */

static void add_layer(struct doc *doc, struct plan_layer *planned)
{
    const struct layer *layer = planned->layer;
    char shape[SHAPE_TEXT_BYTES];
    doc_row_begin(doc);
    doc_count(doc, "index", "#", layer->index);
    doc_text(doc, "type", "Layer", layer->kind->name);
    doc_text(doc_detail(doc), "name", "Name", layer->name[0] ? layer->name : NULL);
    doc_text(doc, "output", "Output", shape_text(&layer->output, shape));
    doc_count(doc_spare(doc), "parameters", "Parameters",
              tensors_elements(&planned->own, CATEGORY_parameters));
    doc_bytes(doc, "parameter_bytes", "Bytes", tensors_bytes(&planned->own, CATEGORY_parameters));
    doc_bytes(doc_detail(doc), "buffer_bytes", "Buffers",
              tensors_bytes(&planned->own, CATEGORY_buffers));
    doc_bytes(doc, "output_bytes", "Result", planned->output_bytes);
    doc_bytes(doc, "saved_bytes", "Newly saved", planned->saved_bytes);
    doc_row_end(doc);
}

void page_estimate_layers(struct doc *doc, const struct estimate *estimate)
{
    doc_list_begin(doc, "layers", "Layers, outputs of one sample");
    for (size_t i = 0; i < estimate->plan.layer_count; i++)
        add_layer(doc, &estimate->plan.layers[i]);
    doc_list_end(doc);
}

static void add_layers(struct doc *doc, const struct estimate *estimate,
                       const struct estimate_view *view)
{
    enum { SUMMARY_LAYERS = 60 };
    const size_t count = estimate->plan.layer_count;
    const bool is_detail = !view->all_layers && count > SUMMARY_LAYERS;
    page_estimate_layers(doc_detail_if(doc, is_detail), estimate);
    if (is_detail)
        doc_note(doc, "The model has %zu layers; --layers shows them all.", count);
}

/* --- assumptions --- */

static void assume(struct doc *doc, const char *sentence)
{
    doc_text(doc, "assumption", "Assumption", sentence);
}

static bool has_type(const struct estimate *estimate, const char *name)
{
    for (size_t i = 0; i < estimate->model->layer_count; i++)
        if (strcmp(estimate->model->layers[i].kind->name, name) == 0)
            return true;
    return false;
}

static bool has_shape(const struct estimate *estimate,
                      int (*shape)(struct layer *, const struct shape *, struct shape *,
                                   struct err *))
{
    for (size_t i = 0; i < estimate->model->layer_count; i++)
        if (estimate->model->layers[i].kind->shape == shape)
            return true;
    return false;
}

static void assume_training(struct doc *doc, const struct estimate *estimate)
{
    const struct layer *last = &estimate->model->layers[estimate->model->layer_count - 1];
    if (!estimate->plan.settings.training) {
        assume(doc, "Inference without a graph: no gradients, no optimizer, evaluation mode.");
        return;
    }
    assume(doc, "Gradients are set to none after each step, so none are held while the next batch "
                "runs forward.");
    assume(doc, "The step's outputs live until its end, the batch until the next one is loaded.");
    if (!(last->kind->traits & TRAIT_loss))
        assume(doc, "The description has no loss layer: the loss itself costs nothing, and a "
                    "gradient of the output's size starts backward.");
}

static void assume_numbers(struct doc *doc, const struct estimate *estimate)
{
    if (dtype_bytes(estimate->plan.settings.dtype) < DTYPE_FP32_BYTES)
        assume(doc, "Parameters, states and activations all have the 16-bit type (model.to), which "
                    "is not what autocast does.");
    if (has_shape(estimate, shape_recurrent))
        assume(doc,
               "The reserve space of recurrent layers is not documented; gate values and cells "
               "of each step are counted.");
    if (has_type(estimate, "RMSNorm"))
        assume(doc, "RMSNorm runs as one kernel; composed of several, it keeps its input twice.");
    if (has_shape(estimate, shape_conv) || has_shape(estimate, shape_transposed))
        assume(doc, "Convolutions run without workspace.");
}

void page_estimate_assumptions(struct doc *doc, const struct estimate *estimate,
                               const struct estimate_view *view)
{
    doc_list_begin(doc, "assumptions", "Assumed");
    assume_training(doc, estimate);
    assume_numbers(doc, estimate);
    if (estimate->plan.settings.workspace_bytes == 0)
        assume(doc, "No library workspace is counted. PyTorch keeps 8519680 bytes for cuBLAS, "
                    "33554432 on compute capability 9.0: --workspace=SIZE.");
    if (view->context_bytes == ESTIMATE_CONTEXT_UNKNOWN)
        assume(doc, "The CUDA context is not counted. 287 to 667 MB were seen, by card and driver: "
                    "--context=SIZE.");
    assume(doc, "Allocated and reserved are those of PyTorch's caching allocator with default "
                "settings, one stream and enough memory.");
    doc_list_end(doc);
}

/* --- the page --- */

static void add_headline(struct doc *doc, const struct estimate *estimate)
{
    const struct settings *settings = &estimate->plan.settings;
    char peak[UNITS_TEXT_BYTES], moment[MOMENT_TEXT_BYTES];
    doc_note(doc, "%s: %s of %s with batch %llu should peak at %s (%s).", model_name(estimate),
             settings->training ? "training" : "inference", dtype_name(settings->dtype),
             (unsigned long long)settings->batch, units_bytes(peak, estimate->peak.requested_bytes),
             estimate_moment_text(estimate, &estimate->peak_moment, moment));
}

struct doc *page_estimate(enum doc_level reads, const struct estimate *estimate,
                          const struct estimate_view *view)
{
    struct doc *doc = doc_new("gpumemtrace.estimate/1", reads);
    if (!doc)
        return NULL;
    add_headline(doc, estimate);
    page_estimate_model(doc, estimate);
    add_rule(doc, estimate);
    add_parameter_totals(doc, estimate);
    add_peak_categories(doc, estimate);
    add_peak(doc, estimate, view);
    add_phase_peaks(doc, estimate);
    add_layers(doc, estimate, view);
    page_estimate_assumptions(doc, estimate, view);
    return doc;
}
