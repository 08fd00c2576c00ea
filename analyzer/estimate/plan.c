/* SPDX-License-Identifier: MIT */
/* Plans the bytes of layers; see plan.h. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "plan_holds.h"
#include "plan_loss.h"
#include "plan_units.h"
#include "analyzer/estimate/layer/layer_formulas.h"
#include "analyzer/estimate/layer/quantized.h"

void plan_release(struct plan *plan)
{
    free(plan->layers);
    free(plan->parameters);
    free(plan->copy_bytes);
    free(plan->units);
    *plan = (struct plan){0};
}

/* Returns the number of elements in the first rank's part, which has whole rows. */
static uint64_t shard_elements(const struct tensor *tensor, uint64_t ranks)
{
    const uint64_t rows = tensor->shape.rank ? tensor->shape.dims[0] : tensor->elements;
    return rows ? (rows + ranks - 1) / ranks * (tensor->elements / rows) : 0;
}

/* Returns the bytes of some elements of a tensor. An element of a quantized tensor may have a
 * fraction of a byte. */
static uint64_t part_bytes(const struct tensor *tensor, uint64_t elements)
{
    if (elements == tensor->elements || tensor->elements == 0)
        return tensor->bytes;
    const double over = (double)(tensor->bytes % tensor->elements) / (double)tensor->elements;
    return elements * (tensor->bytes / tensor->elements) + (uint64_t)(over * (double)elements);
}

/*
 * ZeRO keeps whole weights in the type that the model computes in. The optimizer updates a separate
 * copy of 1/N of them in the model's own type.
 */
static struct plan_parameter zero_parameter(const struct plan *plan,
                                            struct plan_parameter parameter,
                                            const struct tensor *tensor, struct checked *checked)
{
    const uint64_t ranks = plan->settings.gpus, computed = dtype_bytes(plan->dtype);
    parameter.updated_elements = tensor->elements / ranks + (tensor->elements % ranks > 0);
    parameter.updated_bytes =
        checked_mul(checked, parameter.updated_elements, dtype_bytes(plan->settings.dtype));
    parameter.bytes = checked_mul(checked, parameter.elements, computed);
    parameter.gradient_bytes = checked_mul(checked, tensor->elements, computed);
    return parameter;
}

static struct plan_parameter parameter_of(const struct plan *plan, const struct plan_layer *planned,
                                          const struct tensor *tensor, struct checked *checked)
{
    const uint64_t computed = dtype_bytes(plan->dtype);
    const bool has_units = parallel_has_units(plan->settings.parallel);
    const uint64_t ranks = has_units ? plan->settings.gpus : 1;
    const uint64_t kept = shard_elements(tensor, ranks);
    const struct plan_parameter parameter = {
        .bytes = part_bytes(tensor, kept),
        .updated_bytes = part_bytes(tensor, kept),
        .updated_elements = kept,
        .elements = kept,
        .gathered_bytes = has_units ? checked_mul3(checked, kept, ranks, computed) : tensor->bytes,
        .gradient_bytes =
            has_units ? checked_mul(checked, tensor->elements, computed) : tensor->bytes,
        .unit = planned->unit,
        .shape = &tensor->shape,
        .frozen = planned->layer->frozen};
    return parallel_has_master(plan->settings.parallel)
               ? zero_parameter(plan, parameter, tensor, checked)
               : parameter;
}

static int add_parameters(struct plan *plan, struct plan_layer *planned, struct err *err)
{
    struct checked checked = {false};
    planned->first_parameter = plan->parameter_count;
    for (size_t i = 0; i < planned->own.count; i++) {
        const struct tensor *tensor = &planned->own.items[i];
        if (tensor->category != CATEGORY_parameters)
            continue;
        for (uint64_t copy = 0; copy < tensor->count; copy++) {
            if (ARRAY_GROW(plan->parameters, plan->parameter_capacity, plan->parameter_count, err))
                return -1;
            plan->parameters[plan->parameter_count++] =
                parameter_of(plan, planned, tensor, &checked);
        }
        if (plan->parameter_count > PLAN_PARAMETERS_MOST)
            return layer_fail(planned->layer, NULL, err,
                              "the model has too many parameter tensors");
    }
    return checked.overflow ? layer_fail_overflow(planned->layer, err) : 0;
}

/* --- element types --- */

static enum dtype widest(enum dtype a, enum dtype b)
{
    return dtype_bytes(b) > dtype_bytes(a) ? b : a;
}

/*
 * Returns the type of an input of a layer. The model's input has the type that the model computes
 * in, unless the input is ids; see input_element_bytes.
 */
static enum dtype source_dtype(const struct plan *plan, size_t source)
{
    return source == MODEL_INPUT ? plan->dtype : plan->layers[source].flow.dtype;
}

static enum dtype first_dtype(const struct plan *plan, const struct plan_layer *planned)
{
    return planned->layer->input_count ? source_dtype(plan, planned->inputs[0]) : plan->dtype;
}

static uint64_t input_element_bytes(const struct plan *plan, const struct plan_layer *planned)
{
    const bool is_ids =
        (planned->layer->kind->traits & TRAIT_ids) && planned->inputs[0] == MODEL_INPUT;
    return is_ids ? DTYPE_INT64_BYTES : dtype_bytes(first_dtype(plan, planned));
}

static bool has_autocast(const struct plan *plan)
{
    return dtype_bytes(plan->settings.amp) < DTYPE_FP32_BYTES;
}

/* True if the layer is of an adapter that is float32. All parameters of an FSDP unit must have one
 * type, and DeepSpeed converts all parameters to one type. */
static bool is_widened(const struct plan *plan, const struct layer *layer)
{
    return layer->is_float32 && !parallel_has_units(plan->settings.parallel) &&
           !parallel_has_master(plan->settings.parallel);
}

/* Returns the type of the layer's parameters in a model of the given type. */
static enum dtype own_dtype(const struct plan *plan, const struct layer *layer, enum dtype dtype)
{
    return is_widened(plan, layer) ? widest(dtype, DTYPE_float32) : dtype;
}

/* Returns the type to which autocast casts an input of the given type. */
static enum dtype cast_dtype(const struct plan *plan, const struct layer *layer, enum dtype dtype)
{
    /* bitsandbytes returns the type of its input, whatever autocast says */
    if (!has_autocast(plan) || layer->quantization != QUANTIZATION_none)
        return dtype;
    if (layer->kind->traits & TRAIT_low)
        return plan->settings.amp;
    return layer->kind->traits & TRAIT_high ? widest(dtype, DTYPE_float32) : dtype;
}

/* Returns the type of a cache. The cache of values is at least as wide as the cache of keys, which
 * comes before it in the block. */
static enum dtype cache_dtype(const struct plan *plan, const struct layer *layer, enum dtype dtype)
{
    for (size_t i = layer->index; i > 0 && plan->layers[i - 1].layer->block == layer->block; i--)
        if (plan->layers[i - 1].layer->kind->traits & TRAIT_cache)
            return widest(dtype, plan->layers[i - 1].flow.dtype);
    return dtype;
}

/*
 * Returns the type of the layer's result: the widest type of its inputs after autocast. If the
 * layer multiplies with parameters, the result is at least as wide as these. If the layer returns
 * float32, it is at least float32.
 */
static enum dtype result_dtype(const struct plan *plan, const struct plan_layer *planned)
{
    const unsigned traits = planned->layer->kind->traits;
    enum dtype dtype = cast_dtype(plan, planned->layer, first_dtype(plan, planned));
    if ((planned->layer->is_plain && has_autocast(plan)) ||
        (planned->layer->is_float32 && !is_widened(plan, planned->layer)))
        return dtype;
    if (traits & TRAIT_product)
        return has_autocast(plan) ? plan->settings.amp : plan->dtype;
    for (size_t i = 1; i < planned->layer->input_count; i++)
        dtype =
            widest(dtype, cast_dtype(plan, planned->layer, source_dtype(plan, planned->inputs[i])));
    if ((traits & TRAIT_meets) || (traits & TRAIT_ids))
        dtype = widest(dtype, plan->dtype);
    if (traits & TRAIT_cache)
        dtype = cache_dtype(plan, planned->layer, dtype);
    return traits & TRAIT_float ? widest(dtype, DTYPE_float32) : dtype;
}

/* Returns whether the result exists once for all samples. This is so for positions, for parameters,
 * for results made of these alone, and for views of such a result. */
static bool is_once(const struct plan *plan, const struct plan_layer *planned)
{
    const unsigned traits = planned->layer->kind->traits;
    const size_t source = planned->layer->input_count ? planned->inputs[0] : MODEL_INPUT;
    return (traits & (TRAIT_once | TRAIT_aside)) || planned->layer->fields.once ||
           ((traits & TRAIT_view) && source != MODEL_INPUT && plan->layers[source].is_once);
}

/* Returns the layer's number of samples. After DataParallel, a loss that the loop computes works on
 * the samples of all GPUs. */
static uint64_t batch_of(const struct plan *plan, const struct plan_layer *planned)
{
    const struct settings *settings = &plan->settings;
    const bool is_loops = settings->logits == LOGITS_dropped &&
                          parallel_kind(settings->parallel)->gradients == GRADIENTS_summed &&
                          planned->layer->index >= plan->predicted;
    if (planned->layer->fields.once)
        return 1;
    return is_loops ? settings->batch * settings->gpus : settings->batch;
}

static int plan_flow(const struct plan *plan, struct plan_layer *planned, struct err *err)
{
    const struct settings *settings = &plan->settings;
    const unsigned traits = planned->layer->kind->traits;
    struct checked checked = {false};
    struct flow *flow = &planned->flow;
    *flow = (struct flow){.input = planned->layer->input,
                          .output = planned->layer->output,
                          .batch = batch_of(plan, planned),
                          .dtype = result_dtype(plan, planned),
                          .input_dtype = first_dtype(plan, planned),
                          .autocast = has_autocast(plan),
                          .training = settings->training,
                          .old_softmax = settings_before(settings, TORCH_softmax),
                          .writes =
                              settings->serve.pass == SERVE_decode && !settings->serve.pool_bytes};
    planned->is_once = is_once(plan, planned);
    const uint64_t copies = (traits & TRAIT_loss) || planned->is_once ? 1 : flow->batch;
    flow->input_elements =
        checked_mul(&checked, shape_elements(&flow->input, &checked), flow->batch);
    flow->output_elements = checked_mul(&checked, shape_elements(&flow->output, &checked), copies);
    planned->input_bytes =
        checked_mul(&checked, flow->input_elements, input_element_bytes(plan, planned));
    planned->gradient_bytes =
        checked_mul(&checked, flow->output_elements, dtype_bytes(flow->dtype));
    /* PyTorch's mse_loss makes one value for each element, then shrinks the result in place. */
    planned->output_bytes = traits & TRAIT_wide ? planned->input_bytes : planned->gradient_bytes;
    checked_mul(&checked, planned->input_bytes, settings->gpus);
    checked_mul(&checked, planned->output_bytes, settings->gpus);
    if (checked.overflow)
        return layer_fail(planned->layer, NULL, err,
                          "with batch %" PRIu64 " it is too large to count in 64 bits",
                          flow->batch);
    return 0;
}

/*
 * Takes the tensors' bytes from the weight files. If the user has set another element type, tensors
 * that can be converted (is_open) take the bytes of that type.
 */
static void plan_stored(struct plan_layer *planned, bool is_files_type)
{
    const struct layer_stored *stored = planned->layer->stored;
    for (size_t i = 0; stored && i < planned->own.count; i++)
        if (stored[i].known && (is_files_type || !stored[i].is_open))
            planned->own.items[i].bytes = stored[i].bytes;
}

static int plan_tensors(const struct plan *plan, struct plan_layer *planned, bool is_files_type,
                        struct err *err)
{
    const struct settings *settings = &plan->settings;
    const struct layer *layer = planned->layer;
    layer->kind->parameters(layer, own_dtype(plan, layer, settings->dtype), &planned->own);
    plan_stored(planned, is_files_type);
    quantized_own(layer, &planned->own);
    layer->kind->extra(layer, &planned->flow, &planned->extra);
    layer->kind->backward(layer, &planned->flow, &planned->backward);
    quantized_passes(layer, &planned->flow, &planned->extra, &planned->backward);
    for (int i = CONV_FORWARD; i <= CONV_FILTER; i++) {
        planned->workspace_bytes[i] =
            layer_workspace(layer, &planned->flow, &settings->cores, (enum conv_direction)i);
        checked_add(&planned->extra.checked, planned->workspace_bytes[i], 0);
    }
    if (!planned->own.checked.overflow && !planned->extra.checked.overflow &&
        !planned->backward.checked.overflow)
        return 0;
    return layer_fail(layer, NULL, err,
                      "with batch %" PRIu64 " it is too large to count in 64 bits",
                      settings->batch);
}

/* Adaptive pooling to one value is a mean, whose gradient does not need the input. */
static bool is_mean(const struct layer *layer)
{
    if (layer->kind->shape != shape_adaptive)
        return false;
    SIZES_FOR_EACH(i, layer)
    if (layer->fields.output[i] != 1)
        return false;
    return true;
}

static unsigned saves_of(const struct plan_layer *planned)
{
    const struct layer *layer = planned->layer;
    const bool copies = (layer->kind->traits & TRAIT_copies) &&
                        dtype_bytes(planned->flow.input_dtype) < DTYPE_FP32_BYTES;
    /* A matrix product saves its input only for the gradient of its weight. */
    const bool is_frozen_product =
        layer->frozen && layer->kind->saves == SAVES_input && (layer->kind->traits & TRAIT_low) &&
        layer->quantization != QUANTIZATION_int8; /* MatMul8bitLt keeps it all the same */
    if (is_mean(layer) || copies || is_frozen_product)
        return SAVES_none;
    if (layer->fields.eager)
        /* only the fused kernel saves its result */
        return layer->kind->saves & ~(unsigned)SAVES_result;
    if (planned->flow.old_softmax && layer_is_softmax(layer))
        return SAVES_both;
    if (layer->fields.inplace)
        return layer->kind->saves_inplace;
    return layer->kind->saves | (layer->fields.keeps_inputs ? SAVES_input : 0U) |
           (layer->fields.keeps_result ? SAVES_result : 0U);
}

static bool has_same_type(const struct plan *plan, const struct plan_layer *planned)
{
    return input_element_bytes(plan, planned) == dtype_bytes(planned->flow.dtype);
}

/*
 * Returns the number of the layer's checkpointed segment, which is the number of one of its blocks;
 * 0: none. A segment is every `every`th block, or `together` consecutive repetitions of one block.
 */
static size_t segment_of(const struct plan *plan, const struct layer *layer)
{
    const struct checkpointing *checkpointing = &plan->settings.checkpointing;
    const uint64_t together = checkpointing->together;
    if (together == 0 || !plan->settings.training || layer->block == 0)
        return 0;
    if (checkpointing->every > 1)
        return (layer->turn + 1) % checkpointing->every == 0 ? layer->block : 0;
    const struct plan_layer *before = layer->index > 0 ? &plan->layers[layer->index - 1] : NULL;
    if (!before || before->segment == 0)
        return layer->block;
    const bool begins = before->layer->block != layer->block && layer->turn % together == 0;
    return begins ? layer->block : before->segment;
}

/* Plans selective checkpointing. torchtitan's policy keeps the results of attention and of every
 * second product without bias. */
static void plan_selective(const struct plan *plan, struct plan_layer *planned)
{
    const struct layer *layer = planned->layer;
    const bool is_product = layer->kind->shape == shape_linear && !layer->fields.bias;
    const bool is_attention = layer->kind->shape == shape_attention && !layer->fields.eager;
    const struct plan_layer *before = layer->index > 0 ? planned - 1 : NULL;
    if (!planned->segment || !plan->settings.checkpointing.selective)
        return;
    planned->products =
        (before && before->segment == planned->segment ? before->products : 0) + is_product;
    planned->is_kept = is_attention || (is_product && planned->products % 2 == 1);
}

/* Plans the layer's place in autograd's graph. The graph begins at layers with parameters; layers
 * before these save nothing. */
static void plan_graph(const struct plan *plan, struct plan_layer *planned)
{
    const struct layer *layer = planned->layer;
    const bool training = plan->settings.training;
    planned->keeps_storage = layer_keeps_storage(layer, training);
    planned->keeps_storage |=
        (layer->kind->traits & (TRAIT_float | TRAIT_product)) && has_same_type(plan, planned);
    /* transformers makes no cache if it checkpoints; a pool of blocks is written in place */
    planned->keeps_storage |= (layer->kind->traits & TRAIT_cache) &&
                              (planned->segment || plan->settings.serve.pool_bytes);
    planned->is_view = planned->keeps_storage && !layer->fields.inplace;
    planned->is_view |=
        planned->keeps_storage && (layer->kind->traits & TRAIT_train) && planned->extra.count == 0;
    for (size_t i = 0; i < layer->input_count; i++)
        planned->passes_gradient |=
            planned->inputs[i] != MODEL_INPUT && plan->layers[planned->inputs[i]].in_graph;
    const bool trains = training && planned->parameter_count > 0 && !layer->frozen;
    planned->in_graph = planned->passes_gradient || trains;
    planned->saves = planned->in_graph && !planned->is_view ? saves_of(planned) : SAVES_none;
}

bool plan_layer_saves(const struct plan_layer *planned)
{
    bool some = planned->saves || planned->casts.count > 0;
    for (size_t i = 0; i < planned->extra.count; i++)
        some |= planned->extra.items[i].category == CATEGORY_activations;
    return planned->in_graph && some;
}

/* Ends the segments in which no layer saves a tensor. They keep nothing for a second run. */
static void leave_idle_segments(struct plan *plan)
{
    for (size_t first = 0, end; first < plan->layer_count; first = end) {
        bool saves = false;
        for (end = first;
             end < plan->layer_count && plan->layers[end].segment == plan->layers[first].segment;
             end++)
            saves |= plan_layer_saves(&plan->layers[end]);
        for (size_t i = first; i < end && !saves; i++) {
            plan->layers[i].segment = 0;
            plan->layers[i].is_kept = false;
        }
    }
}

static void count_readers(struct plan *plan, const struct plan_layer *planned)
{
    for (size_t i = 0; i < planned->layer->input_count; i++) {
        const size_t source = planned->inputs[i];
        ++*(source == MODEL_INPUT ? &plan->input_readers : &plan->layers[source].readers);
        if (planned->segment && source != MODEL_INPUT &&
            plan->layers[source].segment == planned->segment)
            plan->layers[source].inner_readers++;
        if (source == MODEL_INPUT && planned->input_bytes > plan->input_bytes)
            plan->input_bytes = planned->input_bytes;
    }
}

static bool is_cached(const struct plan *plan, size_t source)
{
    return source != MODEL_INPUT && (plan->layers[source].layer->kind->traits & TRAIT_cache);
}

/*
 * Returns the bytes of the copy that a composed attention makes of input i. It multiplies matrices
 * of one head each, so it copies inputs whose rows hold all heads, and also keys and values that
 * serve several heads. Inputs that come from a cache are already separated by head.
 */
static uint64_t regrouped_bytes(const struct plan *plan, const struct plan_layer *planned, size_t i,
                                struct checked *checked)
{
    const struct layer_fields *fields = &planned->layer->fields;
    if (!(planned->layer->kind->traits & TRAIT_regroups) || !fields->eager)
        return 0;
    const uint64_t repeats = i == 0 ? 1 : fields->heads / fields->kv_heads;
    if (repeats == 1 && (i == 0 ? fields->partial : is_cached(plan, planned->inputs[i])))
        return 0;
    const uint64_t elements = checked_mul3(
        checked, shape_elements(planned->layer->inputs[i], checked), plan->settings.batch, repeats);
    return checked_mul(checked, elements, dtype_bytes(planned->flow.dtype));
}

static uint64_t cast_bytes(const struct plan *plan, const struct plan_layer *planned, size_t i,
                           struct checked *checked)
{
    const enum dtype from = source_dtype(plan, planned->inputs[i]);
    const enum dtype to = cast_dtype(plan, planned->layer, from);
    if (from == to || (planned->layer->kind->traits & TRAIT_ids))
        return 0;
    return checked_mul3(checked, shape_elements(planned->layer->inputs[i], checked),
                        plan->settings.batch, dtype_bytes(to));
}

/* Plans the copies that the layer makes of its inputs. The gradient of a cast input is cast as
 * well. */
static int plan_copies(struct plan *plan, struct plan_layer *planned, struct err *err)
{
    const struct layer *layer = planned->layer;
    struct checked checked = {false};
    uint64_t gradients = 0;
    for (size_t i = 0; i < layer->input_count; i++) {
        const uint64_t cast = cast_bytes(plan, planned, i, &checked);
        const uint64_t regrouped = regrouped_bytes(plan, planned, i, &checked);
        plan->copy_bytes[layer->first_input + i] = regrouped ? regrouped : cast;
        gradients = checked_add(&checked, gradients, cast);
    }
    if (gradients)
        tensors_add(&planned->backward, CATEGORY_temporaries, 1, gradients, 1);
    return checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

/* Plans autocast's copies of the layer's weights, and the gradients of these copies. */
static void plan_weight_casts(const struct plan *plan, struct plan_layer *planned)
{
    const uint64_t tied = layer_tied_elements(planned->layer);
    const enum dtype own = own_dtype(plan, planned->layer, plan->dtype);
    const uint64_t bytes = dtype_bytes(cast_dtype(plan, planned->layer, own));
    if (!(planned->layer->kind->traits & TRAIT_low) || bytes == dtype_bytes(own))
        return;
    if (tied > 0)
        tensors_add(&planned->casts, CATEGORY_temporaries, bytes, tied, 1);
    for (size_t i = 0; i < planned->own.count; i++) {
        const struct tensor *tensor = &planned->own.items[i];
        tensors_add(&planned->casts, CATEGORY_temporaries, bytes, tensor->elements, tensor->count);
        planned->casts.items[planned->casts.count - 1].shape = tensor->shape;
    }
    /* These are the gradients of the copies before they are cast back. */
    if (!planned->layer->frozen)
        tensors_add(&planned->backward, CATEGORY_temporaries, 1,
                    tensors_bytes(&planned->casts, CATEGORY_temporaries), 1);
}

static int plan_layer(struct plan *plan, const struct model *model, size_t index, struct err *err)
{
    struct plan_layer *planned = &plan->layers[index];
    planned->segment = segment_of(plan, planned->layer);
    planned->unit = parallel_has_units(plan->settings.parallel) ? planned->layer->block : 0;
    if (plan_flow(plan, planned, err) ||
        plan_tensors(plan, planned, plan->settings.dtype == model->settings.dtype, err) ||
        plan_copies(plan, planned, err))
        return -1;
    planned->parameter_count = tensors_count(&planned->own, CATEGORY_parameters);
    plan_weight_casts(plan, planned);
    plan_graph(plan, planned);
    plan_selective(plan, planned);
    count_readers(plan, planned);
    return 0;
}

static size_t prediction_layer(const struct plan *plan)
{
    size_t layer = plan->layer_count - 1;
    if (!(plan->layers[layer].layer->kind->traits & TRAIT_loss))
        return plan->layer_count;
    while (plan->layers[layer].inputs[0] != MODEL_INPUT &&
           (plan->layers[plan->layers[layer].inputs[0]].layer->kind->traits & TRAIT_float))
        layer = plan->layers[layer].inputs[0];
    return layer;
}

/* Plans all layers. Parameters are added in the order of registration, in which optimizers also
 * have them. */
static int plan_layers(struct plan *plan, const struct model *model, struct err *err)
{
    for (size_t i = 0; i < plan->layer_count; i++) {
        plan->layers[i].layer = &model->layers[i];
        plan->layers[i].inputs = model->inputs + model->layers[i].first_input;
    }
    plan->predicted = prediction_layer(plan);
    for (size_t i = 0; i < plan->layer_count; i++)
        if (plan_layer(plan, model, i, err))
            return -1;
    leave_idle_segments(plan);
    for (size_t i = 0; i < plan->layer_count; i++)
        if (add_parameters(plan, &plan->layers[plan->registered[i]], err))
            return -1;
    return 0;
}

/* Removes the loop's loss from the plan of a GPU that sends its results to another one. */
static void leave_loss(struct plan *plan)
{
    const struct settings *settings = &plan->settings;
    if (settings->logits == LOGITS_dropped && plan->predicted > 0 &&
        parallel_kind(settings->parallel)->gradients == GRADIENTS_sent)
        plan->layer_count = plan->predicted;
}

int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err)
{
    *plan = (struct plan){.settings = *settings,
                          .dtype = settings->dtype,
                          .layer_count = model->layer_count,
                          .registered = model->registered};
    if ((parallel_has_units(settings->parallel) || parallel_has_master(settings->parallel)) &&
        settings->param_dtype != DTYPE_COUNT)
        plan->dtype = settings->param_dtype;
    plan->layers = array_new(model->layer_count, sizeof *plan->layers, err);
    plan->copy_bytes = array_new(model->input_count, sizeof *plan->copy_bytes, err);
    if (!plan->layers || !plan->copy_bytes) {
        plan_release(plan);
        return -1;
    }
    if (plan_layers(plan, model, err)) {
        plan_release(plan);
        return -1;
    }
    leave_loss(plan);
    if (!plan_units(plan, err) && !plan_chunked_loss(plan, err)) {
        plan_holds(plan);
        return 0;
    }
    plan_release(plan);
    return -1;
}

static bool counts_values(const struct plan_layer *planned)
{
    const struct shape *input = &planned->flow.input, *output = &planned->flow.output;
    if (planned->layer->kind->traits & TRAIT_resize)
        return memcmp(input->dims, output->dims, input->rank * sizeof input->dims[0]) != 0;
    return planned->layer->kind->traits & TRAIT_values;
}

uint64_t plan_result_values(const struct plan *plan, struct checked *checked)
{
    uint64_t values = 0;
    for (size_t i = 0; i < plan->layer_count; i++)
        if (counts_values(&plan->layers[i]))
            values = checked_add(checked, values, plan->layers[i].flow.output_elements);
    return values;
}
