/* SPDX-License-Identifier: MIT */
/*
 * Describing an estimate: first the answer, then what it is made of, then what it rests on.
 */
#include "estimate_doc.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/render/units.h"

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
    doc_text(doc, "optimizer", NULL, settings->training ? name : NULL);
    if (settings->training)
        doc_text(doc, NULL, "Optimizer", optimizer->text);
    doc_object_end(doc);
}

void estimate_doc_model(struct doc *doc, const struct estimate *estimate)
{
    doc_object_begin(doc, "model", NULL);
    doc_text(doc, "name", NULL, estimate->model->name);
    doc_text(doc, "kind", NULL, estimate->model->kind);
    doc_count(doc, "layers", NULL, estimate->model->layer_count);
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

static void add_parameters(struct doc *doc, const struct estimate *estimate)
{
    doc_object_begin(doc, "parameters", NULL);
    doc_count(doc, "count", "Parameters", estimate->parameter_count);
    doc_bytes(doc, "bytes", "Parameter bytes", estimate->parameter_bytes);
    doc_object_end(doc);
    doc_object_begin(doc, "load", "With the model on the device");
    add_footprint(doc, &estimate->load);
    doc_object_end(doc);
}

/* People see what is there; machines see every category, null where it is not modelled. */
static void add_categories(struct doc *doc, const struct estimate *estimate)
{
    const struct estimate_moment *peak = &estimate->peak_moment;
    doc_object_begin(doc, "categories", "At the peak, by category");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        enum category category = (enum category)i;
        uint64_t bytes = peak->category_bytes[i];
        const char *title = bytes ? category_title(category) : NULL;
        if (!estimate_models(estimate, category))
            doc_null(doc, category_key(category), NULL, DOC_BYTES);
        else
            doc_bytes(doc, category_key(category), title, bytes);
    }
    doc_object_end(doc);
}

static void add_peak(struct doc *doc, const struct estimate *estimate,
                     const struct estimate_view *view)
{
    char text[MOMENT_TEXT_BYTES];
    doc_object_begin(doc, "peak", "Peak");
    add_footprint(doc, &estimate->peak);
    if (view->context_bytes == ESTIMATE_CONTEXT_UNKNOWN)
        doc_null(doc, "device_bytes", NULL, DOC_BYTES);
    else
        doc_bytes(doc, "device_bytes", "On the device, with the context",
                  estimate->peak.reserved_bytes + view->context_bytes);
    doc_text(doc, "at", "Moment", estimate_moment_text(estimate, &estimate->peak_moment, text));
    doc_object_end(doc);
}

static void add_phases(struct doc *doc, const struct estimate *estimate)
{
    char text[MOMENT_TEXT_BYTES];
    doc_list_begin(doc, "phases", "Highest in each phase");
    for (int i = 0; i < TAPE_PHASES; i++) {
        const struct estimate_moment *peak = &estimate->phase_peaks[i];
        if (peak->total_bytes == 0)
            continue;
        doc_row_begin(doc);
        doc_text(doc, "name", "Phase", tape_phase_name((enum tape_phase)i));
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
    doc_count(doc, "forward_values", NULL, estimate->input_values + estimate->result_values);
    doc_known_bytes(doc, "kept_for_backward_bytes", NULL, estimate->plan.settings.training,
                    estimate_kept_bytes(estimate));
}

/* --- layers --- */

static void add_layer(struct doc *doc, struct plan_layer *planned, bool people)
{
    const struct layer *layer = planned->layer;
    char shape[SHAPE_TEXT_BYTES];
    doc_row_begin(doc);
    doc_count(doc, "index", people ? "#" : NULL, layer->index);
    doc_text(doc, "type", people ? "Layer" : NULL, layer->kind->name);
    doc_text(doc, "name", NULL, layer->name[0] ? layer->name : NULL);
    doc_text(doc, "output", people ? "Output" : NULL, shape_text(&layer->output, shape));
    doc_count(doc, "parameters", people ? "Parameters" : NULL,
              tensors_elements(&planned->own, CATEGORY_parameters));
    doc_bytes(doc, "parameter_bytes", people ? "Bytes" : NULL,
              tensors_bytes(&planned->own, CATEGORY_parameters));
    doc_bytes(doc, "buffer_bytes", NULL, tensors_bytes(&planned->own, CATEGORY_buffers));
    doc_bytes(doc, "output_bytes", people ? "Result" : NULL, planned->output_bytes);
    doc_bytes(doc, "saved_bytes", people ? "Newly saved" : NULL, planned->saved_bytes);
    doc_row_end(doc);
}

void estimate_doc_layers(struct doc *doc, const struct estimate *estimate, bool people)
{
    doc_list_begin(doc, "layers", people ? "Layers, outputs of one sample" : NULL);
    for (size_t i = 0; i < estimate->plan.layer_count; i++)
        add_layer(doc, &estimate->plan.layers[i], people);
    doc_list_end(doc);
}

static void add_layers(struct doc *doc, const struct estimate *estimate,
                       const struct estimate_view *view)
{
    size_t count = estimate->plan.layer_count;
    bool people = view->all_layers || count <= ESTIMATE_LAYERS_SHOWN;
    estimate_doc_layers(doc, estimate, people);
    if (!people)
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

void estimate_doc_assumptions(struct doc *doc, const struct estimate *estimate,
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

struct doc *estimate_doc(const struct estimate *estimate, const struct estimate_view *view,
                         enum doc_level reads)
{
    struct doc *doc = doc_new("gpumemtrace.estimate/1", reads);
    if (!doc)
        return NULL;
    add_headline(doc, estimate);
    estimate_doc_model(doc, estimate);
    add_rule(doc, estimate);
    add_parameters(doc, estimate);
    add_categories(doc, estimate);
    add_peak(doc, estimate, view);
    add_phases(doc, estimate);
    add_layers(doc, estimate, view);
    estimate_doc_assumptions(doc, estimate, view);
    return doc;
}
