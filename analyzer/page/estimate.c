/* SPDX-License-Identifier: MIT */
/* The page of `estimate`: the answer, the figures behind it, the assumptions; see estimate.h. */
#include "estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/category.h"
#include "analyzer/render/units.h"
#include "analyzer/estimate/layer/layer_formulas.h"
#include "analyzer/page/verdict/verdict.h"
#include "analyzer/page/weights/page_weights.h"
#include "estimate_answer.h"
#include "estimate_run.h"
#include "estimate_serving.h"

const char *page_model_name(const struct estimate *estimate)
{
    return estimate->model->name ? estimate->model->name : "the model";
}

/* --- model and settings --- */

static void add_dtype_of(struct doc *doc, const char *key, const char *title, enum dtype dtype,
                         bool has_units)
{
    const bool is_given = has_units && dtype != DTYPE_COUNT;
    doc_text(doc_detail_if(doc, !is_given), key, title, is_given ? dtype_name(dtype) : NULL);
}

static void add_ranks(struct doc *doc, const struct settings *settings)
{
    const struct parallel_kind *kind = parallel_kind(settings->parallel);
    const bool is_alone = settings->parallel == PARALLEL_none;
    const bool has_units = parallel_has_units(settings->parallel);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kind->names, ","), kind->names);
    doc_count(doc_detail_if(doc, is_alone), "gpus", "GPUs", is_alone ? 1 : settings->gpus);
    doc_text(doc_detail_if(doc, is_alone), "parallel", "Shared by", is_alone ? NULL : name);
    doc_words(doc, "%s", kind->text);
    add_dtype_of(doc, "param_dtype", "Computed in", settings->param_dtype,
                 has_units || parallel_has_master(settings->parallel));
    add_dtype_of(doc, "reduce_dtype", "Reduced as", settings->reduce_dtype, has_units);
    doc_text(doc_detail_if(doc, !has_units), "reshard", "Resharded after forward",
             has_units ? reshard_name(settings->reshard) : NULL);
}

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
    const bool casts = dtype_bytes(settings->amp) < DTYPE_FP32_BYTES;
    doc_text(doc_detail_if(doc, !casts), "amp", "Autocast",
             casts ? dtype_name(settings->amp) : NULL);
    doc_count(doc_detail_if(doc, settings->accumulation < 2), "accumulation",
              "Batches accumulated before a step", settings->accumulation);
    const struct checkpointing *checkpointing = &settings->checkpointing;
    doc_count(doc_detail_if(doc, checkpointing->together == 0), "checkpointing",
              "Blocks checkpointed together (0: none)", checkpointing->together);
    if (checkpointing->selective)
        doc_words(doc, "%" PRIu64 ", selective", checkpointing->together);
    else if (checkpointing->every > 1)
        doc_words(doc, "1, of every %" PRIu64, checkpointing->every);
    doc_bool(doc_detail(doc), "selective", "Selective", checkpointing->selective);
    doc_count(doc_detail(doc), "checkpointing_every", "Of so many blocks",
              checkpointing->every ? checkpointing->every : 1);
    doc_text(doc_detail_if(doc, settings->logits == LOGITS_kept), "logits", "The model's output",
             logits_name(settings->logits));
    char release[48];
    snprintf(release, sizeof release, "%" PRIu64 ".%" PRIu64, settings->torch / 100,
             settings->torch % 100);
    doc_text(doc_detail_if(doc, !settings->torch), "torch", "Release of PyTorch",
             settings->torch ? release : NULL);
    add_ranks(doc, settings);
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

static void add_parameter_totals(struct doc *doc, const struct estimate *estimate)
{
    doc_object_begin(doc, "parameters", NULL);
    doc_count(doc, "count", "Parameters", estimate->parameter_count);
    doc_bytes(doc, "bytes", "Parameter bytes", estimate->parameter_bytes);
    doc_object_end(doc);
    doc_object_begin(doc, "load", "With the model on the device");
    page_footprint(doc, &estimate->load);
    doc_object_end(doc);
}

/* Adds the bytes of each category at the peak. A summary shows only categories that hold bytes. A
 * category that is not modelled is null. */
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
    const uint64_t nccl_bytes = estimate->plan.settings.nccl_bytes;
    const bool context_known = view->context_bytes != ESTIMATE_CONTEXT_UNKNOWN;
    doc_object_begin(doc, "peak", "Peak");
    page_footprint(doc, &estimate->peak);
    doc_known_bytes(doc_detail_if(doc, !nccl_bytes), "nccl_bytes", "NCCL's buffers, as given",
                    nccl_bytes > 0, nccl_bytes);
    doc_known_bytes(doc_detail_if(doc, !context_known), "device_bytes",
                    "On the device, with the context", context_known,
                    estimate->peak.reserved_bytes + view->context_bytes + nccl_bytes);
    doc_text(doc, "at", "Moment", MOMENT_TEXT(estimate, &estimate->peak_moment));
    doc_object_end(doc);
}

static void add_phase_peaks(struct doc *doc, const struct estimate *estimate)
{
    doc_list_begin(doc, "phases", "Highest in each phase");
    for (int i = 0; i < SCHEDULE_PHASES; i++) {
        const struct estimate_moment *peak = &estimate->phase_peaks[i];
        if (peak->total_bytes == 0)
            continue;
        doc_row_begin(doc);
        doc_text(doc, "name", "Phase", schedule_phase_name((enum schedule_phase)i));
        doc_bytes(doc, "peak_bytes", "Requested", peak->total_bytes);
        doc_text(doc, "at", "Moment", MOMENT_TEXT(estimate, peak));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_rule_row(struct doc *doc, const char *term, uint64_t rule_bytes, uint64_t bytes,
                         const char *why)
{
    doc_row_begin(doc);
    doc_text(doc, "term", "Rule of thumb, beside this estimate", term);
    doc_bytes(doc, "rule_bytes", "The rule", rule_bytes);
    doc_bytes(doc, "estimated_bytes", "Here", bytes);
    doc_list_begin(doc, "why", NULL);
    doc_text(doc, "sentence", "", why);
    doc_list_end(doc);
    doc_row_end(doc);
}

static const char *why_results_differ(const struct estimate *estimate)
{
    if (!estimate->plan.settings.training)
        return "Without backward, a result is freed when the next layers have read it.";
    if (estimate->peak_moment.phase == SCHEDULE_optimizer)
        return "The peak is in the optimizer's step, when results are already freed and the "
               "optimizer's temporaries are live.";
    return "The estimate counts each tensor that backward reads again once, and the temporaries of "
           "one layer.";
}

/* Compares the rule of thumb with the estimate at the peak, term by term, and says why the two
 * differ. */
static void add_rule_terms(struct doc *doc, const struct estimate *estimate)
{
    const uint64_t *bytes = estimate->peak_moment.category_bytes;
    const struct rule_of_thumb *rule = &estimate->rule;
    const bool training = estimate->plan.settings.training;
    const uint64_t beside = bytes[CATEGORY_kv_cache] + bytes[CATEGORY_workspace];
    doc_list_begin(doc, "rule_of_thumb", NULL);
    add_rule_row(doc, training ? "weights, gradients, states" : "weights", rule->states_bytes,
                 bytes[CATEGORY_parameters] + bytes[CATEGORY_buffers] + bytes[CATEGORY_gradients] +
                     bytes[CATEGORY_optimizer],
                 training ? "The rule leaves out biases and buffers, and assumes that all "
                            "gradients are live at the peak."
                          : "The rule leaves out biases and buffers.");
    add_rule_row(doc, training ? "outputs, twice" : "outputs", rule->results_bytes,
                 bytes[CATEGORY_activations] + bytes[CATEGORY_temporaries],
                 why_results_differ(estimate));
    add_rule_row(doc, "input", rule->input_bytes, bytes[CATEGORY_input],
                 training ? "With the target of the loss." : "The same.");
    if (beside > 0)
        add_rule_row(doc, "cache and workspace", 0, beside,
                     "The rule leaves out the cache of keys and values, and cuBLAS's workspace.");
    doc_list_end(doc);
}

static void add_rule(struct doc *doc, const struct estimate *estimate)
{
    doc_bytes(doc, "rule_of_thumb_bytes", "Rule of thumb, for comparison",
              estimate->rule.total_bytes);
    add_rule_terms(doc, estimate);
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

/* --- tensors --- */

static void add_tensor(struct doc *doc, const struct layer *layer, const struct tensor *tensor)
{
    const bool both = layer->name[0] && tensor->name;
    char shape[SHAPE_TEXT_BYTES];
    doc_row_begin(doc);
    doc_textf(doc, "name", "Name", "%s%s%s", layer->name, both ? "." : "",
              tensor->name ? tensor->name : "");
    doc_text(doc, "category", "Category", category_key(tensor->category));
    doc_text(doc, "shape", "Shape", tensor->shape.rank ? shape_text(&tensor->shape, shape) : NULL);
    doc_count(doc, "count", "Alike", tensor->count);
    doc_count(doc, "elements", "Elements", tensor->elements);
    doc_bytes(doc, "bytes", "Bytes", tensor->count * tensor->bytes);
    doc_row_end(doc);
}

static void add_tensors(struct doc *doc, const struct estimate *estimate)
{
    doc_list_begin(doc, "tensors", "Parameters and buffers");
    for (size_t i = 0; i < estimate->plan.layer_count; i++) {
        const struct plan_layer *planned = &estimate->plan.layers[estimate->plan.registered[i]];
        for (size_t j = 0; j < planned->own.count; j++)
            add_tensor(doc, planned->layer, &planned->own.items[j]);
    }
    doc_list_end(doc);
}

/* --- assumptions --- */

static void assume(struct doc *doc, const char *sentence)
{
    doc_text(doc, "assumption", "Assumption", sentence);
}

/* The kinds of layers that assumptions are about. */
struct kinds {
    bool recurrence, convolution, cache, kernel, eager; /* eager: attention that is composed */
    bool norm, composed_norm, experts;
};

static struct kinds kinds_of(const struct model *model)
{
    struct kinds has = {0};
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        const struct layer_kind *kind = layer->kind;
        const bool attends = kind->shape == shape_attention;
        has.recurrence |= kind->shape == shape_recurrent;
        has.convolution |= kind->shape == shape_conv || kind->shape == shape_transposed;
        has.cache |= (kind->traits & TRAIT_cache) != 0;
        has.kernel |= attends && !layer->fields.eager;
        has.eager |= attends && layer->fields.eager;
        has.norm |= !strcmp(kind->name, "RMSNorm");
        has.composed_norm |=
            !strcmp(kind->name, "RMSNormEager") || !strcmp(kind->name, "RMSNormWide");
        has.experts |= !strcmp(kind->name, "Experts");
    }
    return has;
}

/* Warns of a layer whose result no layer reads. The cause may be a mistyped "from", or a graph with
 * several heads. */
static void assume_unread(struct doc *doc, const struct estimate *estimate)
{
    char sentence[LAYER_NAME_BYTES + 120];
    for (size_t i = 0; i + 1 < estimate->plan.layer_count; i++) {
        const struct plan_layer *planned = &estimate->plan.layers[i];
        const struct layer *layer = planned->layer;
        if (planned->readers > 0 || (layer->kind->traits & TRAIT_aside))
            continue;
        snprintf(sentence, sizeof sentence,
                 "No layer reads the result of layer %zu (%s)%s%s: it is dropped at once.", i,
                 layer->kind->name, layer->name[0] ? " " : "", layer->name);
        assume(doc, sentence);
        return;
    }
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
    assume(doc,
           estimate->plan.settings.logits == LOGITS_kept
               ? "The step's outputs live until its end, the batch until the next one is loaded."
               : "The loop computes the loss and lets the model's output go before backward; the "
                 "loss lives until the "
                 "step's end, the batch until the next one is loaded.");
    if (!(last->kind->traits & TRAIT_loss))
        assume(doc, "The description has no loss layer: the loss itself costs nothing, and a "
                    "gradient of the output's size starts backward.");
}

static void assume_numbers(struct doc *doc, const struct estimate *estimate)
{
    const struct kinds has = kinds_of(estimate->model);
    if (dtype_bytes(estimate->plan.settings.dtype) < DTYPE_FP32_BYTES)
        assume(doc, "Parameters, states and activations all have the 16-bit type (model.to). "
                    "Autocast differs: --amp=bfloat16 estimates it.");
    if (dtype_bytes(estimate->plan.settings.amp) < DTYPE_FP32_BYTES)
        assume(doc, "Autocast is entered once for each forward pass, the loss within it, and "
                    "backward is outside.");
    if (estimate->plan.settings.checkpointing.together > 0)
        assume(doc,
               "Checkpointing is not reentrant and stops early, as Hugging Face's is by default.");
    if (estimate->plan.settings.training &&
        optimizer_is_paged(optimizer_kind(estimate->plan.settings.optimizer)))
        assume(doc, "States of 100,000 elements or more are in managed memory, which PyTorch does "
                    "not count. It moves to the host when the card is full, so it is not needed "
                    "to fit.");
    if (has.recurrence)
        assume(doc,
               "The reserve space of recurrent layers is not documented; gate values and cells "
               "of each step are counted. Their workspace is that of a dry run.");
    if (has.norm)
        assume(doc, "RMSNorm runs as one kernel; composed of several, it keeps its input twice.");
    if (has.composed_norm)
        assume(doc, "RMSNorm runs as several operations in float32, as in Hugging Face's models.");
    if (has.kernel)
        assume(doc,
               "Attention runs as one kernel (scaled_dot_product_attention, flash): scores are not "
               "kept. Temporaries of its backward are not modelled.");
    if (has.eager)
        assume(
            doc,
            "Attention is composed (eager): the scores of every pair of positions are kept. Masks "
            "are not modelled.");
    if (has.cache && estimate->plan.settings.serve.pass == SERVE_none)
        assume(doc, "Keys and values are copied into a cache that lives until the step's end, as a "
                    "decoder of Hugging Face "
                    "does by default: --set=use_cache=false.");
    if (has.experts)
        assume(doc, "Without a capacity, experts drop no token: each token has one row for each of "
                    "its experts (grouped_mm), however evenly they are chosen.");
    if (has.convolution)
        assume(doc,
               "Convolutions take the same workspace as in a dry run: on tensor cores copies of "
               "input, "
               "filter and output, and parts of a filter's gradient. cuDNN may choose otherwise.");
}

static void assume_ranks(struct doc *doc, const struct settings *settings)
{
    if (settings->parallel == PARALLEL_none)
        return;
    if (parallel_kind(settings->parallel)->weights == WEIGHTS_replica)
        assume(doc, "Figures are for one GPU other than the first, with its own batch.");
    else
        assume(doc, "Figures are for one GPU, the first rank, with its own batch.");
    assume(doc, parallel_kind(settings->parallel)->source);
    if (settings->nccl_bytes == 0)
        assume(doc, "NCCL's buffers are not counted, and PyTorch's reserved memory does not "
                    "include them: 4 MiB for each channel and peer (NCCL_BUFFSIZE, NCCL's manual). "
                    "Users of large jobs reported 7 to 10 GB a rank. --nccl=SIZE counts them.");
}

void page_estimate_assumptions(struct doc *doc, const struct estimate *estimate,
                               const struct estimate_view *view)
{
    doc_list_begin(doc, "assumptions", "Assumed");
    for (size_t i = 0; i < estimate->model->note_count; i++)
        assume(doc, estimate->model->notes[i]);
    assume_unread(doc, estimate);
    assume_training(doc, estimate);
    assume_numbers(doc, estimate);
    if (settings_before(&estimate->plan.settings, TORCH_foreach))
        assume(doc, "Counted as PyTorch before 2.0: zero_grad keeps the gradients.");
    assume_ranks(doc, &estimate->plan.settings);
    if (view->serving)
        page_estimate_serving_assumptions(doc, view->serving);
    if (estimate->plan.settings.workspace_bytes == 0)
        assume(doc, "No library workspace is counted. PyTorch keeps 8519680 bytes for cuBLAS, "
                    "33554432 on compute capability 9.0. --workspace=SIZE counts it.");
    if (view->context_bytes == ESTIMATE_CONTEXT_UNKNOWN)
        assume(doc, "The CUDA context is not counted. 287 to 667 MB were seen, by card and driver. "
                    "--context=SIZE counts it.");
    if (view->answer && view->answer->card)
        assume(doc, "It fits if its segments and the context are within the card, without a flush "
                    "of PyTorch's cache. Context and cuBLAS's workspace are assumed as usual for "
                    "the card; --context=SIZE and --workspace=SIZE set them.");
    assume(doc, "Allocated and reserved are those of PyTorch's caching allocator with default "
                "settings, one stream and enough memory.");
    doc_list_end(doc);
}

/* --- the page --- */

/* Adds the headline, for example "inference of bfloat16 with batch 8" or "… with 8 sequences of
 * 4096 tokens". */
static void add_headline(struct verdict *said, const struct estimate *estimate,
                         const struct serving *serving, bool has_card)
{
    enum { NAME_CHARACTERS = 24 };
    const struct settings *settings = &estimate->plan.settings;
    char ranks[48] = "";
    if (serving) {
        page_estimate_serving_answer(said, estimate, serving, has_card);
        return;
    }
    if (settings->parallel == PARALLEL_dp || settings->parallel == PARALLEL_dp_other)
        snprintf(ranks, sizeof ranks, " on %s of %" PRIu64 " GPUs",
                 settings->parallel == PARALLEL_dp ? "the first" : "one of the others",
                 settings->gpus);
    else if (settings->parallel != PARALLEL_none)
        snprintf(ranks, sizeof ranks, " on each of %" PRIu64 " GPUs", settings->gpus);
    const char *peak = BYTES_TEXT(estimate->peak.requested_bytes);
    const char *moment = MOMENT_TEXT(estimate, &estimate->peak_moment);
    if (has_card)
        verdict_say(said, VERDICT_why, "%s of %s%s should peak at %s (%s).",
                    settings->training ? "Training" : "Inference", dtype_name(settings->dtype),
                    ranks, peak, moment);
    else
        verdict_say(said, VERDICT_what, "%s: %s of %s with batch %llu%s should peak at %s.",
                    FIT_TEXT(page_model_name(estimate), NAME_CHARACTERS),
                    settings->training ? "training" : "inference", dtype_name(settings->dtype),
                    (unsigned long long)settings->batch, ranks, peak);
    if (!has_card)
        verdict_say(said, VERDICT_why, "The highest moment: %s.", moment);
}

static void say_all(struct verdict *said, const struct estimate *estimate,
                    const struct estimate_view *view)
{
    if (view->answer->card)
        page_estimate_card_answer(said, estimate, view->answer, view->serving);
    add_headline(said, estimate, view->serving, view->answer->card);
    if (view->answer->card) {
        page_estimate_remedy_answer(said, view->answer);
        page_estimate_sizes_answer(said, view->answer, view->serving);
    }
    page_estimate_imbalance_answer(said, estimate, &view->answer->imbalance);
}

struct doc *page_estimate(enum doc_level reads, const struct estimate *estimate,
                          const struct estimate_view *view)
{
    struct doc *doc = doc_new("gpumemtrace.estimate/1", reads);
    struct verdict said = {0};
    if (!doc)
        return NULL;
    say_all(&said, estimate, view);
    verdict_finish(doc, &said);
    page_estimate_model(doc, estimate);
    page_estimate_imbalance(doc, estimate, &view->answer->imbalance);
    if (view->answer->card)
        page_estimate_card(doc, view->answer, view->serving);
    if (view->serving)
        page_estimate_serving(doc, view->serving);
    if (view->what_if)
        page_estimate_what_if(doc, view->answer);
    if (view->weights)
        page_estimate_weights(doc, view->weights, estimate->model->stored);
    add_rule(doc, estimate);
    add_parameter_totals(doc, estimate);
    add_peak_categories(doc, estimate);
    add_peak(doc, estimate, view);
    add_phase_peaks(doc, estimate);
    page_estimate_step(doc, estimate, view->series);
    page_estimate_sites(doc, estimate, view->series);
    add_layers(doc, estimate, view);
    if (view->tensors)
        add_tensors(doc, estimate);
    page_estimate_assumptions(doc, estimate, view);
    page_estimate_series(doc, estimate, view->series);
    return doc;
}
