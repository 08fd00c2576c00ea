/* SPDX-License-Identifier: MIT */
/* Bytes of layers; see plan.h. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "layer_formulas.h"

void plan_release(struct plan *plan)
{
    free(plan->layers);
    free(plan->parameter_bytes);
    *plan = (struct plan){0};
}

static int add_parameters(struct plan *plan, struct plan_layer *planned, struct err *err)
{
    planned->first_parameter = plan->parameter_count;
    for (size_t i = 0; i < planned->own.count; i++) {
        const struct tensor *tensor = &planned->own.items[i];
        if (tensor->category != CATEGORY_parameters)
            continue;
        for (uint64_t copy = 0; copy < tensor->count; copy++) {
            uint64_t *grown = array_grow(plan->parameter_bytes, &plan->parameter_capacity,
                                         plan->parameter_count, sizeof *grown, err);
            if (!grown)
                return -1;
            plan->parameter_bytes = grown;
            grown[plan->parameter_count++] = tensor->elements * tensor->element_bytes;
        }
        if (plan->parameter_count > PLAN_PARAMETERS_MOST)
            return layer_fail(planned->layer, NULL, err,
                              "the model has too many parameter tensors");
    }
    planned->parameter_count = plan->parameter_count - planned->first_parameter;
    return 0;
}

static int plan_flow(struct plan_layer *planned, const struct settings *settings,
                     uint64_t input_element_bytes, struct err *err)
{
    struct checked checked = {false};
    struct flow *flow = &planned->flow;
    uint64_t element_bytes = dtype_bytes(settings->dtype);
    bool is_loss = planned->layer->kind->traits & TRAIT_loss;
    *flow = (struct flow){.input = planned->layer->input,
                          .output = planned->layer->output,
                          .batch = settings->batch,
                          .dtype = settings->dtype,
                          .training = settings->training};
    flow->input_elements =
        checked_mul(&checked, shape_elements(&flow->input, &checked), flow->batch);
    flow->output_elements =
        checked_mul(&checked, shape_elements(&flow->output, &checked), is_loss ? 1 : flow->batch);
    planned->input_bytes = checked_mul(&checked, flow->input_elements, input_element_bytes);
    planned->gradient_bytes = checked_mul(&checked, flow->output_elements, element_bytes);
    /* PyTorch's mse_loss makes one value for each element, then shrinks the result in place. */
    planned->output_bytes =
        planned->layer->kind->traits & TRAIT_wide ? planned->input_bytes : planned->gradient_bytes;
    if (checked.overflow)
        return layer_fail(planned->layer, NULL, err,
                          "with batch %" PRIu64 " it is too large to count in 64 bits",
                          flow->batch);
    return 0;
}

static int plan_tensors(struct plan_layer *planned, const struct settings *settings,
                        struct err *err)
{
    const struct layer *layer = planned->layer;
    layer->kind->parameters(layer, settings->dtype, &planned->own);
    layer->kind->extra(layer, &planned->flow, &planned->extra);
    layer->kind->backward(layer, &planned->flow, &planned->backward);
    if (!planned->own.checked.overflow && !planned->extra.checked.overflow &&
        !planned->backward.checked.overflow)
        return 0;
    return layer_fail(layer, NULL, err,
                      "with batch %" PRIu64 " it is too large to count in 64 bits",
                      settings->batch);
}

/* Adaptive pooling to one value is a mean: its gradient does not need the input. */
static bool is_mean(const struct layer *layer)
{
    if (layer->kind->shape != shape_adaptive)
        return false;
    SIZES_FOR_EACH(i, layer)
    if (layer->fields.output[i] != 1)
        return false;
    return true;
}

static unsigned saves_of(const struct layer *layer)
{
    if (is_mean(layer))
        return SAVES_none;
    return layer->fields.inplace ? layer->kind->saves_inplace : layer->kind->saves;
}

/* Autograd's graph begins at the first layer with parameters; nothing before it is saved. */
static void plan_graph(struct plan_layer *planned, bool training, bool *reached)
{
    const struct layer *layer = planned->layer;
    planned->keeps_storage = layer_keeps_storage(layer, training);
    planned->is_view = planned->keeps_storage && !layer->fields.inplace;
    planned->is_view |=
        planned->keeps_storage && (layer->kind->traits & TRAIT_train) && planned->extra.count == 0;
    planned->passes_gradient = *reached;
    planned->in_graph = *reached || (training && planned->parameter_count > 0);
    planned->saves = planned->in_graph && !planned->is_view ? saves_of(layer) : SAVES_none;
    *reached = planned->in_graph;
}

static int plan_layer(struct plan *plan, const struct model *model, size_t index, bool *reached,
                      struct err *err)
{
    struct plan_layer *planned = &plan->layers[index];
    const struct settings *settings = &plan->settings;
    bool ids = model->layers[index].kind->traits & TRAIT_ids;
    planned->layer = &model->layers[index];
    if (plan_flow(planned, settings, ids ? DTYPE_INT64_BYTES : dtype_bytes(settings->dtype), err) ||
        plan_tensors(planned, settings, err) || add_parameters(plan, planned, err))
        return -1;
    plan_graph(planned, settings->training, reached);
    return 0;
}

int plan_build(struct plan *plan, const struct model *model, const struct settings *settings,
               struct err *err)
{
    bool reached = false;
    *plan = (struct plan){.settings = *settings, .layer_count = model->layer_count};
    plan->layers = array_new(model->layer_count, sizeof *plan->layers, err);
    if (!plan->layers)
        return -1;
    for (size_t i = 0; i < model->layer_count; i++) {
        if (plan_layer(plan, model, i, &reached, err)) {
            plan_release(plan);
            return -1;
        }
    }
    plan->input_bytes = plan->layers[0].input_bytes;
    return 0;
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
